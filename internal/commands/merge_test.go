package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// One log is dealt over two hosts, whose runs are merged. Limits that both share would refuse more: the report says so,
// in every format, and tells exactly what can be told.
func TestMergedHostsShareClients(t *testing.T) {
	text, err := os.ReadFile("../../sample-logs/shop-combined.log")
	must(t, err)
	dir := t.TempDir()
	var hosts [2]bytes.Buffer
	of := [2]map[string]int64{{}, {}}
	for i, line := range slices.Collect(bytes.Lines(text)) {
		hosts[i%2].Write(line)
		client, _, _ := strings.Cut(string(line), " ")
		of[i%2][client]++
	}
	var clients, requests int64
	for client, n := range of[0] {
		if more := of[1][client]; more > 0 {
			clients++
			requests += n + more
		}
	}
	args := []string{"merge", "--db", "all.db"}
	for i := range hosts {
		log, db := fmt.Sprintf("web%d.log", i), fmt.Sprintf("web%d.db", i)
		must(t, os.WriteFile(filepath.Join(dir, log), hosts[i].Bytes(), 0o600))
		run(t, dir, "replay", log, "--limit", "token:6/30s", "--db", db, "--quiet")
		args = append(args, db)
	}
	run(t, dir, args...)
	report := func(db string, more ...string) []byte {
		return run(t, dir, append([]string{"report", "--db", db, "--since", "2026-03-01", "--compare", "none"}, more...)...)
	}

	v := treeOf(t, report("all.db", "--output", "json"))
	if apart := v.at("judged_apart"); int64(apart.at("clients").number()) != clients || int64(apart.at("requests").number()) != requests ||
		len(apart.at("runs").each()) != 2 || len(apart.at("top_clients").each()) != 10 {
		t.Errorf("judged apart: %v, want %d clients with %d requests", apart.value, clients, requests)
	}
	events := rowsOf(t, "csv", run(t, dir, "query", "--db", "all.db", "--output", "csv",
		`SELECT date_trunc('minute', time) AS minute, sum(count)::BIGINT AS n FROM would_blocks GROUP BY ALL ORDER BY n DESC, minute LIMIT 1`))
	worst := v.at("policies", 0, "worst_minute", "refused").text()
	alone := treeOf(t, run(t, dir, "report", "--db", "web0.db", "--output", "json")).at("policies", 0, "worst_minute", "refused").text()
	if worst != events[0]["n"] || worst == alone {
		t.Errorf("the worst minute has %s refusals, its events %s, those of one host %s", worst, events[0]["n"], alone)
	}
	for _, format := range []string{"table", "json", "csv", "markdown", "html"} {
		told := bytes.ReplaceAll(bytes.ReplaceAll(report("all.db", "--output", format), []byte("\n"), []byte(" ")), []byte(`\`), nil)
		told = bytes.Join(bytes.Fields(told), []byte(" "))
		want := fmt.Sprintf("runs 1 and 2 are about the same time and have %d clients in common, with 1,", clients)
		if format == "csv" {
			want = fmt.Sprintf("judged apart,runs 1 and 2,,%d,,%d", requests, clients)
		}
		if !bytes.Contains(told, []byte(want)) || !bytes.Contains(told, []byte("203.0.113.204")) {
			t.Errorf("as %s it does not say %q:\n%.3000s", format, want, told)
		}
	}
	told := report("all.db", "--output", "json", "--anonymize", "hash")
	if bytes.Contains(told, []byte("203.0.113.")) || !bytes.Contains(told, []byte("in common")) {
		t.Errorf("clients are named:\n%s", told)
	}

	// Where events are not kept, the worst minute is not known, and that is said.
	for i := range hosts {
		run(t, dir, "replay", fmt.Sprintf("web%d.log", i), "--limit", "token:6/30s", "--by", "site", "--db", "none.db", "--events", "none", "--quiet")
	}
	v = treeOf(t, report("none.db", "--output", "json"))
	warnings := fmt.Sprint(v.at("warnings").value)
	for _, want := range []string{
		"policy token:6/30s: the worst minute is that of any one run, as not all of them keep its events (--events)",
		"policy token:6/30s counts by site, and runs 1 and 2, about the same time, were each judged apart",
	} {
		if !strings.Contains(warnings, want) {
			t.Errorf("warnings do not say %q: %s", want, warnings)
		}
	}
}

// Nights that go on where the last one stopped, and runs of the same log, are not judged apart.
func TestNightsAreNotJudgedApart(t *testing.T) {
	text, err := os.ReadFile("../../sample-logs/shop-combined.log")
	must(t, err)
	dir := t.TempDir()
	for _, upTo := range []int{len(text) / 2, len(text)} {
		must(t, os.WriteFile(filepath.Join(dir, "access.log"), text[:upTo], 0o600))
		run(t, dir, "replay", "access.log", "--limit", "token:6/30s", "--resume", "--quiet")
	}
	for _, args := range [][]string{nil, {"--resume=fresh", "--resume-as", "again"}} {
		if args != nil { // the same file once more, after it was read in two nights: it has grown since the first
			run(t, dir, append([]string{"replay", "access.log", "--limit", "token:6/30s", "--quiet"}, args...)...)
			run(t, dir, "report", "runs", "delete", "1")
		}
		v := treeOf(t, run(t, dir, "report", "--since", "2026-03-01", "--output", "json", "--compare", "none"))
		if v.at("judged_apart").value != nil {
			t.Errorf("%v: %v", args, v.at("judged_apart").value)
		}
	}
}
