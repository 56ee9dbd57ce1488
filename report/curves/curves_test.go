package curves

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/reporttest"
	"shadow/report/table"
)

var townOptions = report.Options{
	Version: "1.2.3", Command: "shadow replay access.log* --limit 6/30s", Database: "shadow.db", Run: "7",
	Warnings: []string{"access.log.1.gz: ended early: truncated gzip"},
}

func written(t *testing.T, r *sweep.Result, format string, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := New(r, o).Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSweepJSON(t *testing.T) {
	text := written(t, reporttest.SweptTown(3), "json", townOptions)
	type figures struct {
		Refused *int64 `json:"refused"`
		Hit     *int64 `json:"clients_hit"`
	}
	var got struct {
		Action   string
		Requests int64
		ByClass  map[string]report.ClassTotal `json:"by_class"`
		Curves   []struct {
			Kind, By  string
			LimitKind string `json:"limit_kind"`
			Per, Rate *string
			Points    []struct {
				Limit int64
				figures
				ByClass map[string]figures `json:"by_class"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got.Action != "evil\x1b[31m" || strings.Contains(text, "\x1b") || got.Requests != 4000 || got.ByClass["tool"].Requests != 1000 {
		t.Errorf("head: %+v", got)
	}
	window, token := got.Curves[0], got.Curves[1]
	if *window.Per != "1m" || window.Rate != nil || window.LimitKind != "window" || window.By != "client" || len(window.Points) != 3 {
		t.Errorf("window: %+v", window)
	}
	first := window.Points[0]
	if *first.Refused != 4 || *first.Hit != 3 || *first.ByClass["browser"].Refused != 2 || *first.ByClass["tool"].Hit != 1 || len(first.ByClass) != int(request.ClassCount) {
		t.Errorf("first point: %+v", first)
	}
	if token.Per != nil || *token.Rate != "1/1s" || token.Points[0].Refused != nil || *token.Points[0].Hit != 2 || *token.Points[1].Refused != 0 {
		t.Errorf("token: %+v", token)
	}
}

func TestSweepWithoutCurves(t *testing.T) {
	r := reporttest.SweptTown(0)
	r.Curves[0].Points, r.Curves[1].Points, r.Judged = nil, nil, 0
	for _, format := range format.PageOutputs() {
		text := written(t, r, format, townOptions)
		if format == "json" && !json.Valid([]byte(text)) {
			t.Errorf("no JSON:\n%s", text)
		}
	}
	r.Curves = nil
	if text := written(t, r, "json", townOptions); !json.Valid([]byte(text)) {
		t.Errorf("no JSON:\n%s", text)
	}
}

func TestSweepCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(written(t, reporttest.SweptTown(3), "csv", townOptions))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+3+2 || strings.Join(rows[1][:9], " ") != "window 1m  client 1 4 3 2 2" || strings.Join(rows[4][:9], " ") != "token  1/1s client 1  2  2" {
		t.Errorf("%q", rows)
	}
}

// The table never has more columns than the terminal, nor what could harm it; the plot never fails.
func TestSweepTable(t *testing.T) {
	for _, points := range []int{1, 2, 3, 11, 1001, 5000} {
		for _, width := range []int{0, 20, 40, 80, 200, 500} {
			text := written(t, reporttest.SweptTown(points), "table", report.Options{Width: width})
			for line := range strings.Lines(text) {
				if n := table.ColumnsOf(strings.TrimSuffix(line, "\n")); width >= 80 && n > width {
					t.Errorf("%d points: %d columns of %d: %s", points, n, width, line)
				}
			}
			if strings.Contains(text, "\x1b") {
				t.Errorf("an escape sequence in\n%s", text)
			}
		}
	}
}

// What a bucket refuses that was not counted lies between its neighbours.
func TestSweepWithin(t *testing.T) {
	r := reporttest.SweptTown(3)
	token := &r.Curves[1]
	token.Points = []sweep.Point{{Limit: 1}, {Limit: 2, Counted: true}, {Limit: 3}, {Limit: 4, Counted: true}}
	for i, hit := range []int64{1000, 500, 1, 0} {
		token.Points[i].Hit[request.Browser] = hit
	}
	token.Points[1].Refused[request.Browser] = 2000
	text := written(t, r, "table", townOptions)
	if want := "1/1s  browsers     2  50.00 %     3  0.00–50.00 %     3  0.00–50.00 %"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// Where it is known who the clients are, those that claim to be browsers are divided, in each format; else not.
func TestDoubted(t *testing.T) {
	r := reporttest.SweptTown(3)
	if text := written(t, r, "json", townOptions); strings.Contains(text, "doubted") {
		t.Errorf("divides what is not known: %s", text)
	}
	r.Hidden = &sweep.Doubted{Requests: 900, Clients: 300}
	p := &r.Curves[0].Points[0]
	p.Refused[request.Browser], p.Hit[request.Browser], p.Hidden = 200, 20, sweep.Doubted{Requests: 50, Clients: 7}
	for output, wants := range map[string][]string{
		"table": {"browsers are clients that behave like one: 700 of 1,000 that claim it"},
		"json": {
			`"believed":{"requests":2100,"clients":700},"doubted":{"requests":900,"clients":300}`,
			`"believed":{"refused":150,"clients_hit":13},"doubted":{"refused":50,"clients_hit":7}`,
		},
		"csv": {",believed_refused,believed_clients_hit,doubted_refused,doubted_clients_hit", ",150,13,50,7"},
	} {
		text := written(t, r, output, townOptions)
		if output != "csv" {
			text = strings.Join(strings.Fields(text), " ")
		}
		if output == "json" {
			text = strings.ReplaceAll(text, " ", "")
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", output, want, text)
			}
		}
	}
	r.Hidden = &sweep.Doubted{}
	if text := written(t, r, "table", townOptions); !strings.Contains(text, "all clients that claim to be browsers may be") {
		t.Error(text)
	}
}
