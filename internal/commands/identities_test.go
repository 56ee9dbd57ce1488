package commands

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// counted holds how many requests and clients of an identity a log has.
type counted struct{ Requests, Clients int64 }

// TestIdentitiesOfAllLogs asks every command about every log: how many clients of each identity there are, and how many of
// them two limits hit.
func TestIdentitiesOfAllLogs(t *testing.T) {
	for _, c := range logCases {
		t.Run(c.name, func(t *testing.T) {
			if c.real && testing.Short() {
				t.Skip("reads real logs, ten times")
			}
			t.Parallel()
			identitiesOf(t, slices.Concat(c.logs(t), c.args, []string{"--max-bad", "100%"}))
		})
	}
}

func identitiesOf(t *testing.T, log []string) {
	dir := t.TempDir()
	ask := func(output string, args ...string) []byte {
		return run(t, dir, append(args, "--output", output)...)
	}
	about := func(command string, more ...string) []string {
		return append(append([]string{command}, log...), more...)
	}
	const one, other = "token:12/1m", "window:30/1m"
	type answer struct {
		Input    struct{ Identities map[string]counted }
		Policies []struct {
			ByIdentity map[string]pair `json:"by_identity"`
		}
	}
	read := func(text []byte) (a answer) {
		must(t, json.Unmarshal(text, &a))
		return a
	}
	want := read(ask("json", about("replay", "--limit", one, "--limit", other, "--evidence", "--sweep", "--db", "kept.db", "--quiet")...))
	if len(want.Input.Identities) != len(identities) || len(want.Policies) != 2 {
		t.Fatalf("%+v", want)
	}
	for what, args := range map[string][]string{
		"report": {"report", "--db", "kept.db"},
		"sweep":  about("sweep", "--evidence", "--no-store", "--kind", "window", "--per", "1m"),
		"doctor": about("doctor"), "suggest": about("suggest"), "keys": about("keys"),
		"diff": about("diff", "--limit", one, "--limit", other),
	} {
		got := read(ask("json", args...))
		if !maps.Equal(got.Input.Identities, want.Input.Identities) {
			t.Errorf("%s: %+v, want %+v", what, got.Input.Identities, want.Input.Identities)
		}
		for i, p := range got.Policies {
			if what == "report" && !maps.Equal(p.ByIdentity, want.Policies[i].ByIdentity) {
				t.Errorf("%s: %+v, want %+v", what, p, want.Policies[i])
			}
		}
	}
	line := func(text []byte) string {
		for l := range strings.Lines(string(text)) {
			if strings.HasPrefix(l, "clients are") {
				return l
			}
		}
		return ""
	}
	if r, d := line(ask("table", "report", "--db", "kept.db")), line(ask("table", about("doctor")...)); r == "" || r != d {
		t.Errorf("report says %q, doctor %q", r, d)
	}
	stored := map[string]map[string]pair{one: {}, other: {}}
	rows := ask("csv", "query", "--db", "kept.db", `SELECT policy, identity, sum(refused)::BIGINT, sum(clients_hit)::BIGINT
		FROM identity_totals GROUP BY ALL`)
	for row := range strings.Lines(strings.TrimSpace(string(rows))) {
		if f := strings.Split(strings.TrimSpace(row), ","); stored[f[0]] != nil {
			refused, err := strconv.ParseInt(f[2], 10, 64)
			must(t, err)
			hit, err := strconv.ParseInt(f[3], 10, 64)
			must(t, err)
			stored[f[0]][f[1]] = pair{refused, hit}
		}
	}
	for i, limit := range []string{one, other} {
		for j, group := range identities {
			if got, want := stored[limit][oneOf[j]], want.Policies[i].ByIdentity[group]; got != want {
				t.Errorf("the database has %+v of %s for %s, want %+v", got, group, limit, want)
			}
		}
	}
	changed := readDiff(t, ask("json", about("diff", "--evidence", "--limit", one, "--limit", other)...))
	for i, by := range changed {
		for _, group := range identities {
			if by[group] != want.Policies[i].ByIdentity[group] {
				t.Errorf("diff: %+v of %s, want %+v", by[group], group, want.Policies[i].ByIdentity[group])
			}
		}
	}
}

// oneOf are the words of the database for identities.
var oneOf = []string{"person", "office", "undecided", "program", "disguised", "attacker", "search", "crawler", "monitor", "own", "proxy"}
