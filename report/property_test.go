package report

import (
	"encoding/csv"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/format"
	"shadow/report/reporttest"
	"shadow/report/table"
)

// hostile draws texts that are mostly trouble: any bytes, and what terminals, tables and spreadsheets stumble over.
func hostile() *rapid.Generator[string] {
	pieces := []string{
		"\x1b[2J", "\x9b31m", "\u009b", "\u202e", "\u2066", "\u200b", "\ufeff", "\x00", "\x7f", "\r\n", "\t", "|", "`", "<", "&",
		"=", "+", "-", "@", "'", "\"", ",", "\\", "\xff", "\xc3", "日本", "🙂", "\ufe0f", "\U000e0041", "a", "b", " ", "\ufffd", "\u2028",
	}
	trouble := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), "")
	})
	return rapid.OneOf(trouble, rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) }))
}

// anyResult draws a result whose sums hold, with hostile names throughout.
func anyResult() *rapid.Generator[*replay.Result] {
	return rapid.Custom(func(t *rapid.T) *replay.Result {
		res := reporttest.Nobody()
		name := hostile()
		count := func(most int64) int64 { return rapid.Int64Range(0, most).Draw(t, "count") }
		for range rapid.IntRange(0, 3).Draw(t, "policies") {
			res.Policies = append(res.Policies, anyTally(t))
		}
		for range rapid.IntRange(0, 30).Draw(t, "clients") {
			id := res.Tables.Clients.ID([]byte(name.Draw(t, "client")))
			res.Clients.Grow(int(id) + 1)
			tally := res.Clients.At(id)
			tally.LastAgent = res.Tables.Agents.ID([]byte(name.Draw(t, "agent")))
			tally.ByClass[count(int64(request.ClassCount)-1)] += count(100)
		}
		for id := range int32(res.Clients.Len()) {
			for i := range res.Policies {
				n := res.Clients.At(id).Requests()
				reporttest.Hit(&res.Policies[i], id, n, count(n))
			}
		}
		for range rapid.IntRange(0, 5).Draw(t, "actions") {
			res.Tables.Actions.ID([]byte(name.Draw(t, "action")))
		}
		for range res.Tables.Actions.Len() {
			n := count(1000)
			res.Actions = append(res.Actions, n)
			for i := range res.Policies {
				res.Policies[i].ByAction = append(res.Policies[i].ByAction, count(n))
			}
		}
		res.Stats = reporttest.TownStats(count(1000))
		res.Stats.Inputs[0].Name, res.Stats.Faults[0].Text = name.Draw(t, "file"), name.Draw(t, "line")
		res.Stats.HasAgents, res.Stats.HasUpstream = count(1) == 1, count(1) == 1
		return res
	})
}

// anyTally draws what one policy did, apart from which clients it hit.
func anyKey(t *rapid.T) request.Key { return rapid.SampledFrom(request.UsualKeys).Draw(t, "key") }

func anyTally(t *rapid.T) replay.PolicyTally {
	count := func(most int64) int64 { return rapid.Int64Range(0, most).Draw(t, "count") }
	p := replay.PolicyTally{Policy: reporttest.OnePart(limit.Spec{Algorithm: "token", Count: 6, Period: 30 * limit.Second}, anyKey(t))}
	p.BytesSaved, p.UpstreamSaved = count(1<<50), limit.Time(count(1<<40))
	if rapid.Bool().Draw(t, "made") {
		p.Policy.Name = hostile().Draw(t, "name")
		more := p.Policy.Parts[0]
		more.MatchText, more.CountText = hostile().Draw(t, "match"), hostile().Draw(t, "count")
		more.By, more.Count = anyKey(t), 1
		p.Policy.Parts = append(p.Policy.Parts, more)
		p.Delays = &replay.Delays{Requests: count(5), Total: limit.Time(count(1 << 40)), P50: limit.Time(count(1 << 30)), P99: limit.Time(count(1 << 40))}
		p.Range = &replay.Range{Refused: [2]int64{count(5), count(1 << 50)}, ClientsHit: [2]int64{0, count(5)}}
	}
	return p
}

func anyOptions() *rapid.Generator[Options] {
	return rapid.Custom(func(t *rapid.T) Options {
		return Options{
			Top:      rapid.IntRange(-1, 12).Draw(t, "top"),
			Sort:     rapid.SampledFrom(Sorts()).Draw(t, "sort"),
			Width:    rapid.SampledFrom([]int{0, 1, 20, 80, 120}).Draw(t, "width"),
			Color:    rapid.Bool().Draw(t, "color"),
			Command:  hostile().Draw(t, "command"),
			Timezone: hostile().Draw(t, "timezone"),
			Database: hostile().Draw(t, "database"),
			Run:      "1",
			Warnings: []string{hostile().Draw(t, "warning")},
		}
	})
}

var ourColors = regexp.MustCompile("\x1b\\[(0|1|2|33)m")

// TestHarmless: whatever a log holds, no writer lets through what drives, turns or fools a terminal.
func TestHarmless(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		o := anyOptions().Draw(t, "options")
		m := New(anyResult().Draw(t, "result"), o)
		for _, format := range format.Outputs() {
			var b strings.Builder
			if err := m.Write(&b, format); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if o.Color && format == "table" {
				text = ourColors.ReplaceAllString(text, "")
			}
			if bad := reporttest.FirstHarm(text); bad != "" {
				t.Fatalf("%s: %q in\n%s", format, bad, text)
			}
		}
	})
}

// TestMarkdownColumns: every row of a table has as many cells as its head, and nothing looks like HTML.
func TestMarkdownColumns(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		var b strings.Builder
		if err := New(anyResult().Draw(t, "result"), anyOptions().Draw(t, "options")).Write(&b, "markdown"); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexByte(b.String(), '<'); i >= 0 {
			t.Fatalf("a < at %d in\n%s", i, b.String())
		}
		head := 0
		for line := range strings.Lines(b.String()) {
			bars := bareBars(line)
			switch {
			case !strings.HasPrefix(line, "|"):
				head = 0
			case head == 0:
				head = bars
			case bars != head:
				t.Fatalf("%d bars where the head has %d: %q", bars, head, line)
			}
			if !strings.HasPrefix(line, "|") && bars > 0 {
				t.Fatalf("a bar outside of a table: %q", line)
			}
		}
	})
}

// bareBars counts the vertical bars that no backslash makes harmless.
func bareBars(line string) (n int) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			n++
		}
	}
	return n
}

// TestCSVParsesBack: the table is rectangular, its sums hold, and no cell computes anything.
func TestCSVParsesBack(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		var b strings.Builder
		m := New(anyResult().Draw(t, "result"), anyOptions().Draw(t, "options"))
		if err := m.Write(&b, "csv"); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll() // checks the number of fields
		if err != nil {
			t.Fatal(err)
		}
		want := 2
		for _, p := range m.Policies {
			want += 1 + int(request.ClassCount) + len(p.TopClients) + len(p.TopActions)
		}
		if len(rows) != want {
			t.Fatalf("%d rows, want %d", len(rows), want)
		}
		for _, cell := range slices.Concat(rows...) {
			if cell != "-" && cell != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(cell)[0]) {
				t.Fatalf("a formula: %q", cell)
			}
		}
	})
}

// TestJSONAddsUp: it parses, and the classes of each policy add up to its totals.
func TestJSONAddsUp(t *testing.T) {
	type figures struct {
		Requests, Refused, Clients int64
		ClientsHit                 int64 `json:"clients_hit"`
	}
	testneeds.Rapid(t, func(t *rapid.T) {
		res := anyResult().Draw(t, "result")
		var b strings.Builder
		if err := New(res, anyOptions().Draw(t, "options")).Write(&b, "json"); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Input    struct{ Clients, Requests int64 }
			Policies []struct {
				figures
				ByClass map[string]figures `json:"by_class"`
			}
		}
		if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Policies) != len(res.Policies) {
			t.Fatalf("%d policies of %d", len(got.Policies), len(res.Policies))
		}
		for i, p := range got.Policies {
			var sum figures
			for _, f := range p.ByClass {
				sum.Requests += f.Requests
				sum.Refused += f.Refused
				sum.Clients += f.Clients
				sum.ClientsHit += f.ClientsHit
			}
			if sum != p.figures || len(p.ByClass) != int(request.ClassCount) {
				t.Fatalf("policy %d: classes %+v, totals %+v", i, sum, p.figures)
			}
			if p.Clients != got.Input.Clients || p.Requests != got.Input.Requests {
				t.Fatalf("policy %d: %+v, input %+v", i, p.figures, got.Input)
			}
		}
	})
}

// TestIdsDoNotShow: a report is the same whichever client, agent or action was met first.
func TestIdsDoNotShow(t *testing.T) {
	backwards := slices.Clone(reporttest.Visitors)
	slices.Reverse(backwards)
	for _, sort := range Sorts() {
		o := townOptions
		o.Sort, o.Top = sort, 5
		for _, format := range format.Outputs() {
			a, b := write(t, New(reporttest.TownOf(reporttest.Visitors), o), format), write(t, New(reporttest.TownOf(backwards), o), format)
			if a != b {
				t.Errorf("--sort %s, %s:\n%s\n%s", sort, format, a, b)
			}
		}
	}
}

// TestWidth: no table is wider than the terminal if its columns can be cut or folded.
func TestWidth(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		g := table.New(table.Name("client"), table.Number("n"), table.Long("agent"))
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			g.Add(table.Text(hostile().Draw(t, "client")), table.Count(rapid.Int64().Draw(t, "n")), table.Text(hostile().Draw(t, "agent")))
		}
		width := rapid.IntRange(80, 200).Draw(t, "width")
		for _, block := range g.Blocks(width, 0) {
			if len(block) != 1+len(g.Rows) {
				t.Fatalf("%d lines for %d rows", len(block), len(g.Rows))
			}
			for _, line := range block {
				if n := table.ColumnsOf(line); n > width {
					t.Fatalf("%d columns of %d: %q", n, width, line)
				}
			}
		}
	})
}
