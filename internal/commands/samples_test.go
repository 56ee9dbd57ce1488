package commands

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A planted is a row of the table "What is planted" in sample-logs/README.md.
type planted struct {
	file, client      string // client is empty for "all others"
	requests, refuses int64
}

// TestPlantedClientsAreFound holds what sample-logs/README.md says of each planted client against the report.
func TestPlantedClientsAreFound(t *testing.T) {
	rows := plantedRows(t)
	if len(rows) < 12 {
		t.Fatalf("%d rows in the table", len(rows))
	}
	reports := map[string]map[string][2]int64{}
	for _, row := range rows {
		if reports[row.file] == nil {
			reports[row.file] = refusals(t, row.file)
		}
	}
	for _, row := range rows {
		want := [2]int64{row.requests, row.refuses}
		got := reports[row.file][row.client]
		if row.client == "" {
			got = others(reports[row.file], rows, row.file)
		}
		if got != want {
			t.Errorf("%s: client %q has %d requests and refusals, want %d", row.file, row.client, got, want)
		}
	}
}

// plantedRow is a line of the table: file, client, what it does, requests, refuses.
var plantedRow = regexp.MustCompile("^\\| (?:`([^`]+)`)? ?\\| (all others|[0-9a-f.:]+) \\|.*\\| ([0-9,]+) \\| ([0-9,]+) \\|$")

func plantedRows(t *testing.T) []planted {
	t.Helper()
	text, err := os.ReadFile("../../sample-logs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []planted
	file := ""
	for line := range strings.Lines(string(text)) {
		m := plantedRow.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if m[1] != "" {
			file = m[1]
		}
		rows = append(rows, planted{file, strings.TrimPrefix(m[2], "all others"), figure(t, m[3]), figure(t, m[4])})
	}
	return rows
}

func figure(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// refusals returns requests and refusals by token:6/30s of each client, and under "" those of all.
func refusals(t *testing.T, file string) map[string][2]int64 {
	t.Helper()
	// The second limit admits one request of each client, so that its list has all that came twice.
	out := run(t, "../../sample-logs", "replay", file, "--limit", "token:6/30s", "--limit", "token:1/1000w",
		"--no-store", "--output", "json", "--top", "100000")
	type counts struct {
		Client            string
		Requests, Refused int64
	}
	var report struct {
		Policies []struct {
			Policy            string
			Requests, Refused int64
			TopClients        []counts `json:"top_clients"`
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Policies) != 2 || report.Policies[0].Policy != "token:6/30s" {
		t.Fatalf("%s: policies %+v", file, report.Policies)
	}
	judged, everybody := &report.Policies[0], &report.Policies[1]
	found := map[string][2]int64{"": {judged.Requests, judged.Refused}}
	for _, c := range everybody.TopClients {
		found[c.Client] = [2]int64{c.Requests, 0}
	}
	for _, c := range judged.TopClients {
		found[c.Client] = [2]int64{c.Requests, c.Refused}
	}
	return found
}

// others returns the requests and refusals of all clients that have no row of their own.
func others(found map[string][2]int64, rows []planted, file string) [2]int64 {
	rest := found[""]
	for _, row := range rows {
		if row.file == file && row.client != "" {
			rest[0] -= found[row.client][0]
			rest[1] -= found[row.client][1]
		}
	}
	return rest
}
