package main

import (
	"encoding/json"
	"slices"
	"testing"
)

// What a limit hits says suggest, replay, sweep and diff, and all of them mean the same by people: browsers that are
// not disguised. So on the same requests they must agree, figure by figure.

// pair is what a limit does to some clients.
type pair struct {
	Refused int64 `json:"refused"`
	Hit     int64 `json:"clients_hit"`
}

// divided are the browsers by the evidence about them.
type divided struct{ People, Disguised pair }

// A promised is a limit of shadow suggest with its figures.
type promised struct {
	Limit   string
	Figures struct {
		pair
		ByGroup map[string]pair `json:"by_group"`
	} `json:"first"`
}

func (p *promised) divided() divided {
	g := p.Figures.ByGroup
	return divided{pair{g["browsers"].Refused + g["shared"].Refused, g["browsers"].Hit + g["shared"].Hit}, g["disguised"]}
}

func readJSON[T any](t *testing.T, args ...string) (to T) {
	t.Helper()
	if err := json.Unmarshal(run(t, "../../sample-logs", append(args, "--output", "json", "--quiet")...), &to); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return to
}

// suggested are the limits that are suggested for a whole log.
func suggested(t *testing.T, log string) (limits []promised) {
	t.Helper()
	answer := readJSON[struct {
		Answers []struct{ Suggestions []struct{ Chosen *promised } }
	}](t, "suggest", log, "--holdout", "0")
	for _, s := range answer.Answers[0].Suggestions {
		if s.Chosen != nil {
			limits = append(limits, *s.Chosen)
		}
	}
	return limits
}

func TestPeopleAreThoseThatSuggestSpares(t *testing.T) {
	for _, log := range []string{"shop-combined.log", "nginx-timed.log", "vhosts.log", "rotated", "api.json"} {
		t.Run(log, func(t *testing.T) {
			limits := suggested(t, log)
			if len(limits) < 2 {
				t.Fatalf("%d limits are suggested", len(limits))
			}
			replayed(t, log, limits)
			swept(t, log, limits)
			compared(t, log, limits[0], limits[len(limits)-1])
		})
	}
}

// replayed holds a replay against what was promised.
func replayed(t *testing.T, log string, limits []promised) {
	args := []string{"replay", log, "--no-store", "--evidence"}
	for _, l := range limits {
		args = append(args, "--limit", l.Limit)
	}
	got := readJSON[struct {
		Policies []struct {
			Policy string
			pair
			ByEvidence divided         `json:"by_evidence"`
			ByClass    map[string]pair `json:"by_class"`
		}
	}](t, args...)
	for i, p := range got.Policies {
		want := limits[i]
		if p.Policy != want.Limit || p.pair != want.Figures.pair || p.ByEvidence != want.divided() {
			t.Errorf("replay: %+v, want %+v", p, want)
		}
		if b := p.ByClass["browser"]; b.Hit != p.ByEvidence.People.Hit+p.ByEvidence.Disguised.Hit {
			t.Errorf("replay: %s hits %d browsers, divided into %+v", p.Policy, b.Hit, p.ByEvidence)
		}
	}
}

// swept holds a sweep against what was promised of windows, of which every limit is on the curve.
func swept(t *testing.T, log string, limits []promised) {
	type curve struct {
		Kind   string `json:"limit_kind"`
		Per    string
		Points []struct {
			Limit int64
			pair
			ByEvidence divided `json:"by_evidence"`
		}
	}
	got := readJSON[struct{ Curves []curve }](t, "sweep", log, "--no-store", "--evidence", "--kind", "window", "--kind", "fixed")
	found := 0
	for _, c := range got.Curves {
		for _, p := range c.Points {
			at := slices.IndexFunc(limits, func(l promised) bool { return l.Limit == limitText(c.Kind, p.Limit, c.Per) })
			if at < 0 {
				continue
			}
			found++
			if want := limits[at]; p.pair != want.Figures.pair || p.ByEvidence != want.divided() {
				t.Errorf("sweep: %s %d/%s %+v, want %+v", c.Kind, p.Limit, c.Per, p, want)
			}
		}
	}
	if found == 0 {
		t.Error("sweep: no limit of those suggested is on a curve")
	}
}

func limitText(kind string, n int64, per string) string {
	count, _ := json.Marshal(n)
	return kind + ":" + string(count) + "/" + per
}

// compared holds a comparison against what was promised of the two.
func compared(t *testing.T, log string, a, b promised) {
	type change struct {
		OnlyA int64 `json:"only_a"`
		OnlyB int64 `json:"only_b"`
		Both  int64
	}
	type changes struct{ Requests, Clients change }
	got := readJSON[struct {
		ByEvidence struct{ People, Disguised changes } `json:"by_evidence"`
	}](t, "diff", log, "--evidence", "--limit", a.Limit, "--limit", b.Limit)
	sides := func(c changes) [2]pair {
		return [2]pair{{c.Requests.OnlyA + c.Requests.Both, c.Clients.OnlyA + c.Clients.Both}, {c.Requests.OnlyB + c.Requests.Both, c.Clients.OnlyB + c.Clients.Both}}
	}
	people, disguised := sides(got.ByEvidence.People), sides(got.ByEvidence.Disguised)
	for i, want := range []promised{a, b} {
		if d := (divided{people[i], disguised[i]}); d != want.divided() {
			t.Errorf("diff: %s: %+v, want %+v", want.Limit, d, want.divided())
		}
	}
}
