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

// bandedTown is the town read in whole seconds, where the first policy may refuse more, and spare a client that it refuses less
// than a hundred requests.
func bandedTown() *replay.Result {
	res := town()
	res.Stats.Resolution = limit.Second
	res.Band = &replay.Band{Movable: res.Policies[0].Requests}
	for i := range res.Policies {
		p := &res.Policies[i]
		p.Bounds = new([2]replay.Bound)
		for hit := range p.Hits.All() {
			for side := range p.Bounds {
				b, n := &p.Bounds[side], hit.Refused
				if i == 0 && side == 0 && n < 100 {
					continue
				}
				if i == 0 && side == 1 {
					n += 100
				}
				b.Refused += n
				b.Hits.Add(hit.Client, n, hit.First, hit.Last)
			}
		}
	}
	return res
}

// Each figure has a range of its own, which holds the figure as logged.
func TestBand(t *testing.T) {
	m := New(bandedTown(), townOptions)
	for i := range m.Policies {
		p := &m.Policies[i]
		if !within(p.Refused, p.Band.Refused) || !within(p.ClientsHit, p.Band.ClientsHit) {
			t.Errorf("%s: %d refused, %d hit, and a band of %+v", p.Policy, p.Refused, p.ClientsHit, p.Band)
		}
		var hit [2]int64
		for class, f := range p.ByClass {
			b := p.Band.ByClass[class]
			if !within(f.Refused, b.Refused) || !within(f.ClientsHit, b.ClientsHit) {
				t.Errorf("%s, %s: %+v and a band of %+v", p.Policy, traffic.Class(class), f, b)
			}
			hit[0], hit[1] = hit[0]+b.ClientsHit[0], hit[1]+b.ClientsHit[1]
		}
		if hit != p.Band.ClientsHit {
			t.Errorf("%s: %v clients hit by class, %v in all", p.Policy, hit, p.Band.ClientsHit)
		}
	}
	first, second := m.Policies[0].Band, m.Policies[1].Band
	if first.Refused[1] <= m.Policies[0].Refused || first.ClientsHit[1] != m.Policies[0].ClientsHit || first.ClientsHit[0] == first.ClientsHit[1] {
		t.Errorf("the ends are not those of the bounds: %+v", first)
	}
	if second.Refused[0] != second.Refused[1] || fromTo(second.Refused) != thousands(m.Policies[1].Refused) {
		t.Errorf("the bounds agree, and the band is %+v", second)
	}
}

// The page has the ranges as columns of the candidates.
func TestBandOnPage(t *testing.T) {
	var page strings.Builder
	if err := (&Page{Model: New(bandedTown(), townOptions)}).Write(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"refused, band", "clients hit, band", "37,232–38,176", "least–most, wherever in its second"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

// Where a refusal more of one client is one less of another, clients may be hit that no bound hits alone.
func TestBandOfSharedKeys(t *testing.T) {
	res := bandedTown()
	p := &res.Policies[0]
	spared := *p.Hits.At(0)
	p.Bounds[0].Hits, p.Bounds[1].Hits = replay.Hits{}, replay.Hits{}
	for hit := range p.Hits.All() {
		if hit.Client != spared.Client {
			p.Bounds[1].Hits.Add(hit.Client, hit.Refused, hit.First, hit.Last)
		}
	}
	p.Bounds[0].Hits.Add(spared.Client, 1, spared.First, spared.Last)
	got := New(res, townOptions).Policies[0].Band.ClientsHit
	if want := [2]int64{0, int64(p.Hits.Len())}; got != want {
		t.Errorf("%v clients hit, want %v", got, want)
	}
}

func within(n int64, r [2]int64) bool { return r[0] <= n && n <= r[1] }

func TestBandText(t *testing.T) {
	for want, in := range map[string]Input{
		"":     {Requests: 5},
		"none": {Requests: 5, Resolution: "millisecond", Band: &BandInput{}},
		"least–most, wherever in its second each request came": {Requests: 5, Resolution: "second", Band: &BandInput{Movable: 5}},
		"of 5 requests 4 are stamped in whole seconds":         {Requests: 5, Resolution: "second", Band: &BandInput{Movable: 4}},
	} {
		if text := bandText(&in); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%+v: %q, want %q in it", in.Band, text, want)
		}
	}
}

// A point of a curve stands wherever it or one of its bounds changes, and the figures as logged are those of the curve.
func TestSweepBand(t *testing.T) {
	r := sweptTown(4) // changes at 1, 2, 3 and 4
	window := r.Curves[0]
	window.Points = slices.Clone(window.Points)
	for i := range window.Points {
		window.Points[i].Limit *= 2
	}
	token := r.Curves[1]
	token.Points = []sweep.Point{{Limit: 1, Counted: true}}
	r.Band = &sweep.Band{Movable: 9, Low: []sweep.Curve{r.Curves[0], token}, High: []sweep.Curve{window, r.Curves[1]}}
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
	// As logged 6 4 2 0 from 1 on, at most 0 of 1, then 6 6 4 4 2 2 0 from 2 on.
	if !slices.Equal(limits, []int64{1, 2, 3, 4, 6, 8}) || !slices.Equal(low, []int64{0, 4, 2, 0, 0, 0}) || !slices.Equal(high, []int64{6, 6, 6, 4, 2, 0}) {
		t.Errorf("limits %v, from %v to %v", limits, low, high)
	}
	if first := got.Curves[1].Points[0]; first.Refused != nil || first.Band.Refused != nil || first.Band.Hit != [2]int64{0, 2} || got.Input.Band.Movable != 9 {
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
