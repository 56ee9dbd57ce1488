package report

import (
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/replay"
	"shadow/report/format"
	"shadow/report/reporttest"
)

// Each figure has a range of its own, which holds the figure as logged.
func TestBand(t *testing.T) {
	m := New(reporttest.BandedTown(), townOptions)
	for i := range m.Policies {
		p := &m.Policies[i]
		if !within(p.Refused, p.Band.Refused) || !within(p.ClientsHit, p.Band.ClientsHit) {
			t.Errorf("%s: %d refused, %d hit, and a band of %+v", p.Policy, p.Refused, p.ClientsHit, p.Band)
		}
		var hit [2]int64
		for class, f := range p.ByClass {
			b := p.Band.ByClass[class]
			if !within(f.Refused, b.Refused) || !within(f.ClientsHit, b.ClientsHit) {
				t.Errorf("%s, %s: %+v and a band of %+v", p.Policy, request.Class(class), f, b)
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
	if second.Refused[0] != second.Refused[1] || format.FromTo(second.Refused) != format.Thousands(m.Policies[1].Refused) {
		t.Errorf("the bounds agree, and the band is %+v", second)
	}
}

// Where a refusal more of one client is one less of another, clients may be hit that no bound hits alone.
func TestBandOfSharedKeys(t *testing.T) {
	res := reporttest.BandedTown()
	p := &res.Policies[0]
	moved := *p.Hits.At(0)
	p.Bounds[0].Hits, p.Bounds[1].Hits = replay.Hits{}, replay.Hits{}
	for hit := range p.Hits.All() {
		if hit.Client != moved.Client {
			p.Bounds[1].Hits.Add(hit.Client, hit.Refused, hit.First, hit.Last)
		}
	}
	p.Bounds[0].Hits.Add(moved.Client, 1, moved.First, moved.Last)
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
		if text := in.bandText(); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%+v: %q, want %q in it", in.Band, text, want)
		}
	}
}
