package curves

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report"
	"shadow/report/reporttest"
)

// A point of a curve stands wherever it or one of its bounds changes, and the figures as logged are those of the curve.
func TestSweepBand(t *testing.T) {
	r := reporttest.SweptTown(4) // changes at 1, 2, 3 and 4
	window := r.Curves[0]
	window.Points = slices.Clone(window.Points)
	for i := range window.Points {
		window.Points[i].Limit *= 2
	}
	token := r.Curves[1]
	token.Points = []sweep.Point{{Limit: 1, Counted: true}}
	r.Band = &sweep.Band{Movable: 9, Low: []sweep.Curve{r.Curves[0], token}, High: []sweep.Curve{window, r.Curves[1]}}
	var got struct {
		Input  struct{ Band report.BandInput }
		Curves []struct {
			Points []struct {
				Limit   int64
				Refused *int64
				Band    struct {
					Refused *[2]int64
					Hit     [2]int64 `json:"clients_hit"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(written(t, r, "json", townOptions)), &got); err != nil {
		t.Fatal(err)
	}
	var limits, low, high []int64
	for _, p := range got.Curves[0].Points {
		limits, low, high = append(limits, p.Limit), append(low, p.Band.Refused[0]), append(high, p.Band.Refused[1])
	}
	// As logged 6 4 2 0 from 1 on, at most 0 of 1, then 6 6 4 4 2 2 0 from 2 on.
	if !slices.Equal(limits, []int64{1, 2, 3, 4, 6, 8}) || !slices.Equal(low, []int64{0, 4, 2, 0, 0, 0}) || !slices.Equal(high, []int64{6, 6, 6, 4, 2, 0}) {
		t.Errorf("limits %v, from %v to %v", limits, low, high)
	}
	if first := got.Curves[1].Points[0]; first.Refused != nil || first.Band.Refused != nil || first.Band.Hit != [2]int64{0, 2} || got.Input.Band.Movable != 9 {
		t.Errorf("token: %+v, input: %+v", first, got.Input)
	}
	for line := range strings.Lines(written(t, r, "csv", townOptions)) {
		if n := strings.Count(line, ","); n != 6+2*int(request.ClassCount)+4+4*int(request.ClassCount) {
			t.Errorf("%d commas in %s", n, line)
		}
	}
	if text := written(t, r, "table", townOptions); !strings.Contains(text, "4 (4–8)") {
		t.Errorf("no range of limits in\n%s", text)
	}
}
