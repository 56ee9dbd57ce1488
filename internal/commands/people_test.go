package commands

import (
	"encoding/json"
	"slices"
	"testing"
)

// Who a limit hits say suggest, replay, sweep and diff, and all of them mean the same by each identity. So on the same
// requests they must agree, figure by figure.

// pair counts what a limit does to some clients.
type pair struct {
	Refused int64 `json:"refused"`
	Hit     int64 `json:"clients_hit"`
}

// A promised is a limit of shadow suggest with its figures.
type promised struct {
	Limit   string
	Figures struct {
		pair
		ByGroup map[string]pair `json:"by_group"`
	} `json:"first"`
}

// believed returns what it does to browsers that are believed to be what they claim.
func (p *promised) believed() (sum pair) {
	for _, group := range []string{"people", "offices", "undecided"} {
		sum.Refused += p.Figures.ByGroup[group].Refused
		sum.Hit += p.Figures.ByGroup[group].Hit
	}
	return sum
}

// differing returns the identities of which something else is said than was promised.
func (p *promised) differing(said map[string]pair) (groups []string) {
	for _, group := range identities {
		if got, known := said[group]; !known || got != p.Figures.ByGroup[group] {
			groups = append(groups, group)
		}
	}
	return groups
}

func readJSON[T any](t *testing.T, args ...string) (to T) {
	t.Helper()
	if err := json.Unmarshal(run(t, "../../sample-logs", append(args, "--output", "json", "--quiet")...), &to); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return to
}

// suggested returns the limits that are suggested for a whole log.
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

func TestIdentitiesAgree(t *testing.T) {
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
			ByIdentity map[string]pair `json:"by_identity"`
		}
	}](t, args...)
	for i, p := range got.Policies {
		want := limits[i]
		if p.Policy != want.Limit || p.pair != want.Figures.pair {
			t.Errorf("replay: %+v, want %+v", p, want)
		}
		if d := want.differing(p.ByIdentity); d != nil {
			t.Errorf("replay: %v: %+v, want %+v", d, p, want)
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
			ByEvidence struct{ Believed pair } `json:"by_evidence"`
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
			if want := limits[at]; p.pair != want.Figures.pair || p.ByEvidence.Believed != want.believed() {
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
	by := readDiff(t, run(t, "../../sample-logs", "diff", log, "--evidence", "--limit", a.Limit, "--limit", b.Limit, "--output", "json"))
	for limit, d := range map[string][]string{a.Limit: a.differing(by[0]), b.Limit: b.differing(by[1])} {
		if d != nil {
			t.Errorf("diff: %s differs in %v: %+v, want %+v and %+v", limit, d, by, a, b)
		}
	}
}

// readDiff returns what the two sides of a comparison do to each identity.
func readDiff(t *testing.T, text []byte) (by [2]map[string]pair) {
	type change struct {
		OnlyA int64 `json:"only_a"`
		OnlyB int64 `json:"only_b"`
		Both  int64
	}
	var got struct {
		ByIdentity map[string]struct{ Requests, Clients change } `json:"by_identity"`
	}
	must(t, json.Unmarshal(text, &got))
	by[0], by[1] = map[string]pair{}, map[string]pair{}
	for group, c := range got.ByIdentity {
		by[0][group] = pair{c.Requests.OnlyA + c.Requests.Both, c.Clients.OnlyA + c.Clients.Both}
		by[1][group] = pair{c.Requests.OnlyB + c.Requests.Both, c.Clients.OnlyB + c.Clients.Both}
	}
	return by
}
