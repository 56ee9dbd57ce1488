package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/replay"
	"shadow/sweep"
	"shadow/traffic"
)

// bandedTown is the town read in whole seconds, where the first policy hits fewer and refuses more at the spread placement.
func bandedTown() *replay.Result {
	res := town()
	res.Stats.Resolution = limit.Second
	res.Band = &replay.Band{Movable: res.Policies[0].Requests, Moved: 1234}
	for i := range res.Policies {
		p := &res.Policies[i]
		p.Spread = &replay.Placed{}
		for hit := range p.Hits.All() {
			n := hit.Refused
			if i == 0 && n < 100 {
				continue
			}
			if i == 0 {
				n += 100
			}
			p.Spread.Refused += n
			p.Spread.Hits.Add(hit.Client, n, hit.First, hit.Last)
		}
	}
	return res
}

// Each figure has a range of its own, which holds the figure as logged; those of classes add up to no more than the totals' span.
func TestBand(t *testing.T) {
	m := New(bandedTown(), townOptions)
	for i := range m.Policies {
		p := &m.Policies[i]
		if !within(p.Refused, p.Band.Refused) || !within(p.ClientsHit, p.Band.ClientsHit) {
			t.Errorf("%s: %d refused, %d hit, and a band of %+v", p.Policy, p.Refused, p.ClientsHit, p.Band)
		}
		for class, f := range p.ByClass {
			if b := p.Band.ByClass[class]; !within(f.Refused, b.Refused) || !within(f.ClientsHit, b.ClientsHit) {
				t.Errorf("%s, %s: %+v and a band of %+v", p.Policy, traffic.Class(class), f, b)
			}
		}
	}
	first, second := m.Policies[0].Band, m.Policies[1].Band
	if first.Refused[0] != m.Policies[0].Refused || first.ClientsHit[1] != m.Policies[0].ClientsHit || first.ClientsHit[0] == first.ClientsHit[1] {
		t.Errorf("the ends are not those of different placements: %+v", first)
	}
	if second.Refused[0] != second.Refused[1] || fromTo(second.Refused) != thousands(m.Policies[1].Refused) {
		t.Errorf("placements agree, and the band is %+v", second)
	}
}

func within(n int64, r [2]int64) bool { return r[0] <= n && n <= r[1] }

func TestBandText(t *testing.T) {
	for want, in := range map[string]Input{
		"":     {Requests: 5},
		"none": {Requests: 5, Resolution: "millisecond", Band: &BandInput{}},
		"none: each request came too late or took too long to be moved": {Requests: 5, Resolution: "second", Band: &BandInput{}},
		"no two requests of a client share a second":                    {Requests: 5, Resolution: "second", Band: &BandInput{Movable: 5}},
		"of 5 requests 4 may be moved":                                  {Requests: 5, Resolution: "second", Band: &BandInput{Movable: 4, Moved: 2}},
		"bound; 2 requests moved":                                       {Requests: 5, Resolution: "second", Band: &BandInput{Movable: 5, Moved: 2}},
	} {
		if text := bandText(&in); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%+v: %q, want %q in it", in.Band, text, want)
		}
	}
}

// A point of a curve stands wherever one of the placements changes, and the figures as logged are those of the curve.
func TestSweepBand(t *testing.T) {
	r := sweptTown(4) // changes at 1, 2, 3 and 4
	window := r.Curves[0]
	window.Points = slices.Clone(window.Points)
	for i := range window.Points {
		window.Points[i].Limit *= 2
	}
	token := r.Curves[1]
	token.Points = []sweep.Point{{Limit: 1, Counted: true}}
	r.Band = &sweep.Band{Movable: 9, Moved: 3, Curves: []sweep.Curve{window, token}}
	var got struct {
		Input  struct{ Band BandInput }
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
	// As logged 6 4 2 0 from 1 on, spread 0 of 1, then 6 6 4 4 2 2 0 from 2 on.
	if !slices.Equal(limits, []int64{1, 2, 3, 4, 6, 8}) || !slices.Equal(low, []int64{0, 4, 2, 0, 0, 0}) || !slices.Equal(high, []int64{6, 6, 6, 4, 2, 0}) {
		t.Errorf("limits %v, from %v to %v", limits, low, high)
	}
	if first := got.Curves[1].Points[0]; first.Refused != nil || first.Band.Refused != nil || first.Band.Hit != [2]int64{0, 2} || got.Input.Band.Moved != 3 {
		t.Errorf("token: %+v, input: %+v", first, got.Input)
	}
	for line := range strings.Lines(written(t, r, "csv", townOptions)) {
		if n := strings.Count(line, ","); n != 6+2*int(traffic.ClassCount)+4+4*int(traffic.ClassCount) {
			t.Errorf("%d commas in %s", n, line)
		}
	}
	if text := written(t, r, "table", townOptions); !strings.Contains(text, "4 (4–8)") {
		t.Errorf("no range of limits in\n%s", text)
	}
}
