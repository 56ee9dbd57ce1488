package commands

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// Two commands never give two figures for one question. These tests put each question to every command and every output
// that can answer it, and want one answer. A question is a text such as "window:16/1m: refused of class tool"; each
// source of an answer has a name, as in "report as markdown".

// A poll gathers answers.
type poll struct {
	*testing.T
	answers map[string]map[string]string // by question and source
}

func newPoll(t *testing.T) *poll { return &poll{t, map[string]map[string]string{}} }

// say takes down an answer. Numbers lose what separates thousands.
func (p *poll) say(source, question, answer string) {
	p.Helper()
	answer = strings.ReplaceAll(strings.TrimSpace(answer), ",", "")
	of := p.answers[question]
	if of == nil {
		of = map[string]string{}
		p.answers[question] = of
	}
	if before, said := of[source]; said && before != answer {
		p.Errorf("%s: %s says %q and %q", question, source, before, answer)
	}
	of[source] = answer
}

// count complains about questions with more than one answer, and about those of which fewer sources than expected say
// something.
func (p *poll) count(least map[string]int) {
	p.Helper()
	for question, of := range p.answers {
		by := map[string][]string{}
		for source, answer := range of {
			by[answer] = append(by[answer], source)
		}
		if len(by) > 1 {
			text := ""
			for answer, sources := range by {
				slices.Sort(sources)
				text += fmt.Sprintf("\n  %q: %s", answer, strings.Join(sources, "; "))
			}
			p.Errorf("%s has %d answers:%s", question, len(by), text)
		}
	}
	for question, want := range least {
		if got := len(p.answers[question]); got < want {
			p.Errorf("%s: %d sources answer, want %d at least: %v", question, got, want, p.answers[question])
		}
	}
}

// A row is one of a table: its cells under their heads. Of heads that occur again, the cell lies under that of the
// column before and the head: "99.9 % refuses".
type row map[string]string

func rowOf(heads, cells []string) row {
	if len(heads) != len(cells) {
		return nil
	}
	r := row{}
	for i, head := range heads {
		if slices.Contains(heads[:i], head) || slices.Contains(heads[i+1:], head) {
			head = heads[i-1] + " " + head
		}
		r[head] = cells[i]
	}
	return r
}

var (
	gap      = regexp.MustCompile(` {2,}`)
	htmlRow  = regexp.MustCompile(`(?s)<tr>(.*?)</tr>`)
	htmlCell = regexp.MustCompile(`(?s)<(t[hd])[^>]*>(.*?)</t[hd]>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
)

// rowsOf returns the rows of all tables of a report.
func rowsOf(t *testing.T, format string, text []byte) (rows []row) {
	t.Helper()
	var heads []string
	take := func(cells []string) {
		if r := rowOf(heads, cells); r != nil {
			rows = append(rows, r)
		}
	}
	switch format {
	case "csv":
		all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		must(t, err)
		heads = all[0]
		for _, cells := range all[1:] {
			take(cells)
		}
	case "markdown":
		for line := range strings.Lines(strings.ReplaceAll(string(text), `\`, "")) {
			inner, found := strings.CutPrefix(strings.TrimSpace(line), "| ")
			cells := strings.Split(strings.TrimSuffix(inner, " |"), " | ")
			switch {
			case !found:
				heads = nil
			case heads == nil:
				heads = cells
			case !strings.Contains(cells[0], "--"):
				take(cells)
			}
		}
	case "html":
		for _, m := range htmlRow.FindAllStringSubmatch(string(text), -1) {
			var cells []string
			headsOnly := true
			for _, c := range htmlCell.FindAllStringSubmatch(m[1], -1) {
				cells = append(cells, html.UnescapeString(tags.ReplaceAllString(c[2], "")))
				headsOnly = headsOnly && c[1] == "th"
			}
			if headsOnly {
				heads = cells
			} else {
				take(cells)
			}
		}
	default:
		for line := range strings.Lines(string(text)) {
			cells := gap.Split(strings.TrimSpace(line), -1)
			switch {
			case strings.TrimSpace(line) == "":
				heads = nil
			case heads == nil:
				heads = cells
			default:
				take(cells)
			}
		}
	}
	return rows
}

// A tree is some JSON.
type tree struct{ value any }

func treeOf(t *testing.T, text []byte) tree {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v\n%.500s", err, text)
	}
	return tree{v}
}

// at goes down by keys and indices.
func (v tree) at(path ...any) tree {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.value.(map[string]any)
			v = tree{m[step]}
		case int:
			v = tree{v.value.([]any)[step]}
		}
	}
	return v
}

func (v tree) each() (all []tree) {
	list, _ := v.value.([]any)
	for _, one := range list {
		all = append(all, tree{one})
	}
	return all
}

func (v tree) number() float64 { n, _ := v.value.(float64); return n }

func (v tree) text() string {
	if n, ok := v.value.(float64); ok {
		if n == math.Trunc(n) {
			return strconv.FormatInt(int64(n), 10)
		}
		return fmt.Sprintf("%.2f", n)
	}
	s, _ := v.value.(string)
	return s
}

var (
	fiveClasses = []string{"browser", "crawler", "tool", "monitor", "unknown"}
	identities  = []string{
		"people", "offices", "undecided", "programs", "disguised", "attackers", "search", "crawlers", "monitors",
		"own", "proxies",
	}
	groupOf = strings.NewReplacer("person", "people", "office ", "offices ", "program ", "programs ", "attacker ", "attackers ",
		"search engines", "search", "search engine", "search", "crawler ", "crawlers ", "monitor ", "monitors ", "proxy", "proxies")
)

// An inquiry is a poll about one log.
type inquiry struct {
	*poll
	dir, log string
	reading  []string // flags of all commands that read it
	formats  []string
	n        string   // the smallest N of window:N/1m that hits no browser that is believed
	policies []string // by which it is judged
	clients  []string // of which to ask more
}

// shadow runs this program on the log in the folder of the inquiry.
func (q *inquiry) shadow(args ...string) []byte {
	q.Helper()
	if slices.Contains(args, q.log) {
		args = append(args, q.reading...)
	}
	return run(q.T, q.dir, args...)
}

// judged returns the arguments that name the log and the policies.
func (q *inquiry) judged(command string, more ...string) []string {
	args := []string{command}
	if command != "report" && command != "tail" {
		args = append(args, q.log)
	}
	for _, p := range q.policies {
		if command != "report" {
			args = append(args, "--limit", p)
		}
	}
	return append(args, more...)
}

var (
	requestsLine = regexp.MustCompile(`requests\W+([\d,]+) from ([\d,]+) clients`)
	clientsLine  = regexp.MustCompile(`clients are\W+([\d,]+ [\d, a-z]+)`)
	cardLine     = regexp.MustCompile(`<b>([\d,]+)</b> (requests|clients)`)
	safeLine     = regexp.MustCompile(`window:(\d+)/1m</dt><dd>affects none of the browsers, and refuses ([\d.]+) %`)
	refusesLine  = regexp.MustCompile(`(?m)(\S+),? by client, refuses ([\d,]+) of ([\d,]+) requests \(([\d.]+) %\) ` +
		`and hits ([\d,]+) of ([\d,]+) clients`)
	accountLine = regexp.MustCompile(`(?i)by client, refuses (?:([\d,]+) of its ([\d,]+)|none of its ([\d,]+)) requests`)
)

// head collects what the beginning of a report says, whatever it is about.
func (q *inquiry) head(source, format string, text []byte) {
	q.Helper()
	switch format {
	case "json":
		in := treeOf(q.T, text).at("input")
		q.say(source, "requests", in.at("requests").text())
		q.say(source, "clients", in.at("clients").text())
		for _, group := range identities {
			if n := in.at("identities", group, "clients").text(); in.at("identities").value != nil {
				q.say(source, group, n)
			}
		}
	case "html":
		for _, m := range cardLine.FindAllSubmatch(text, -1) {
			q.say(source, string(m[2]), string(m[1]))
		}
	case "csv":
	default:
		if m := requestsLine.FindSubmatch(text); m != nil {
			q.say(source, "requests", string(m[1]))
			q.say(source, "clients", string(m[2]))
		} else {
			q.Errorf("%s does not tell the requests:\n%.600s", source, text)
		}
	}
	if m := clientsLine.FindSubmatch(tags.ReplaceAll(text, []byte(" "))); m != nil && format != "json" {
		for one := range strings.SplitSeq(string(m[1]), ", ") {
			n, group, _ := strings.Cut(strings.TrimSpace(groupOf.Replace(one+" ")), " ")
			q.say(source, group, n)
		}
	}
}

// replayed collects a report of policies.
func (q *inquiry) replayed(source, format string, text []byte) {
	q.Helper()
	source += " as " + format
	q.head(source, format, text)
	switch format {
	case "json":
		for _, p := range treeOf(q.T, text).at("policies").each() {
			q.policyJSON(source, p)
		}
		return
	case "csv":
		for _, r := range rowsOf(q.T, format, text) {
			q.policyCSV(source, r)
		}
		return
	}
	seen := map[string]int{}
	for _, r := range rowsOf(q.T, format, text) {
		if slices.Contains(q.policies, r["limit"]) {
			q.policyRow(source, r)
		}
		client := r["client"]
		if client == "" || r["requests"] == "" || !slices.Contains(q.clients, client) {
			continue
		}
		for i, policy := range q.policies {
			refused := r[policy] // one table for all policies
			if r["refused"] != "" && i == seen[client] {
				refused = r["refused"] // a table for each of them, in their order
			}
			if refused != "" {
				q.say(source, policy+": requests of "+client, r["requests"])
				q.say(source, policy+": refused of "+client, refused)
			}
		}
		seen[client]++
	}
	for _, m := range refusesLine.FindAllSubmatch(text, -1) {
		q.refuses(source, m)
	}
}

// refuses collects the sentence that sums a policy up.
func (q *inquiry) refuses(source string, m [][]byte) {
	policy := strings.TrimRight(string(m[1]), ",")
	for i, what := range []string{"refused", "requests", "refused %", "clients hit", "clients"} {
		if i == 1 || i == 4 {
			q.say(source, what, string(m[2+i]))
		} else {
			q.say(source, policy+": "+what, string(m[2+i]))
		}
	}
}

func (q *inquiry) policyJSON(source string, p tree) {
	name := p.at("policy").text() + ": "
	q.say(source, name+"refused", p.at("refused").text())
	q.say(source, name+"refused %", fmt.Sprintf("%.2f", p.at("refused_percent").number()))
	q.say(source, name+"clients hit", p.at("clients_hit").text())
	q.say(source, name+"worst minute", p.at("worst_minute", "refused").text())
	q.say(source, name+"worst minute begins", p.at("worst_minute", "start").text())
	q.say(source, name+"means", p.at("semantics").text())
	q.say(source, name+"nginx", p.at("nginx").text())
	q.say(source, name+"bytes saved", p.at("bytes_saved").text())
	for _, class := range fiveClasses {
		q.say(source, name+"hit of class "+class, p.at("by_class", class, "clients_hit").text())
		q.say(source, name+"refused of class "+class, p.at("by_class", class, "refused").text())
		q.say(source, "requests of class "+class, p.at("by_class", class, "requests").text())
	}
	for _, group := range identities {
		if of := p.at("by_identity", group); of.value != nil {
			q.say(source, name+"hit of "+group, of.at("clients_hit").text())
			q.say(source, name+"refused of "+group, of.at("refused").text())
			q.say(source, group, of.at("clients").text())
		}
	}
	for _, c := range p.at("top_clients").each() {
		if client := c.at("client").text(); slices.Contains(q.clients, client) {
			q.say(source, name+"requests of "+client, c.at("requests").text())
			q.say(source, name+"refused of "+client, c.at("refused").text())
		}
	}
}

func (q *inquiry) policyCSV(source string, r row) {
	name := r["policy"] + ": "
	switch level := r["level"]; {
	case level == "input":
		q.say(source, "requests", r["requests"])
		q.say(source, "clients", r["clients"])
	case level == "policy":
		q.say(source, name+"refused", r["refused"])
		q.say(source, name+"clients hit", r["clients_hit"])
		q.say(source, name+"worst minute", r["worst_minute_refused"])
		q.say(source, name+"worst minute begins", r["worst_minute"])
		q.say(source, name+"bytes saved", r["bytes_saved"])
	case level == "class":
		q.say(source, name+"hit of class "+r["name"], r["clients_hit"])
		q.say(source, name+"refused of class "+r["name"], r["refused"])
		q.say(source, "requests of class "+r["name"], r["requests"])
	case level == "identity":
		q.say(source, name+"hit of "+r["name"], r["clients_hit"])
		q.say(source, name+"refused of "+r["name"], r["refused"])
		q.say(source, r["name"], r["clients"])
	case level == "client" && slices.Contains(q.clients, r["name"]):
		q.say(source, name+"requests of "+r["name"], r["requests"])
		q.say(source, name+"refused of "+r["name"], r["refused"])
	}
}

// policyRow collects a row of the table of policies, whatever its columns are called.
func (q *inquiry) policyRow(source string, r row) {
	for head, cell := range r {
		switch head = strings.TrimSuffix(head, "s hit"); head {
		case "refused", "clients hit":
			q.say(source, r["limit"]+": "+head, cell)
		case "client":
			q.say(source, r["limit"]+": clients hit", cell)
		case "refused that minute":
			q.say(source, r["limit"]+": worst minute", cell)
		case "% of requests":
			q.say(source, r["limit"]+": refused %", cell)
		default:
			if slices.Contains(fiveClasses, head) {
				q.say(source, r["limit"]+": hit of class "+head, cell)
			}
			if slices.Contains(identities, head) {
				q.say(source, r["limit"]+": hit of "+head, cell)
			}
		}
	}
}

// swept collects a report of curves, of which one is that of windows of a minute.
func (q *inquiry) swept(source, format string, text []byte) {
	q.Helper()
	source += " as " + format
	q.head(source, format, text)
	n := toInt(q.T, q.n)
	switch format {
	case "json":
		v := treeOf(q.T, text)
		for _, class := range fiveClasses {
			q.say(source, "requests of class "+class, v.at("by_class", class, "requests").text())
		}
		for _, who := range []string{"believed", "doubted"} {
			q.say(source, who, v.at("by_evidence", who, "clients").text())
		}
		for _, c := range v.at("curves").each() {
			if c.at("limit_kind").text() != "window" || c.at("per").text() != "1m" {
				continue
			}
			q.say(source, safest, safestPoint(c.at("points").each()))
			var at tree
			for _, p := range c.at("points").each() {
				if int64(p.at("limit").number()) <= n {
					at = p
				}
			}
			name := "window:" + q.n + "/1m: "
			q.say(source, name+"refused", at.at("refused").text())
			q.say(source, name+"clients hit", at.at("clients_hit").text())
			for _, class := range fiveClasses {
				q.say(source, name+"hit of class "+class, at.at("by_class", class, "clients_hit").text())
				q.say(source, name+"refused of class "+class, at.at("by_class", class, "refused").text())
			}
			for _, who := range []string{"believed", "doubted"} {
				q.say(source, name+"hit of "+who, at.at("by_evidence", who, "clients_hit").text())
				q.say(source, name+"refused of "+who, at.at("by_evidence", who, "refused").text())
			}
		}
	case "csv":
		var at row
		for _, r := range rowsOf(q.T, format, text) {
			if r["limit_kind"] == "window" && r["per"] == "1m" {
				if at == nil || toInt(q.T, r["limit"]) <= n {
					at = r
				}
				if r["believed_clients_hit"] == "0" && q.answers[safest][source] == "" {
					q.say(source, safest, r["limit"])
				}
			}
		}
		q.curveRow(source, at)
	case "html":
		q.page(source, text)
	default:
		found := false
		for _, r := range rowsOf(q.T, format, text) {
			if r["per"] == "1m" && r["protects"] == "browsers" && !found { // rolling windows come first
				found = true
				q.say(source, safest, r["99.9 %"])
				q.say(source, "window:"+q.n+"/1m: refused %", strings.TrimSuffix(r["99.9 % refuses"], " %"))
			}
		}
	}
}

// curveRow collects the figures of a limit as CSV of a sweep or the database have them.
func (q *inquiry) curveRow(source string, r row) {
	name := "window:" + q.n + "/1m: "
	q.say(source, name+"refused", r["refused"])
	q.say(source, name+"clients hit", r["clients_hit"])
	for _, class := range fiveClasses {
		q.say(source, name+"hit of class "+class, r[class+"_clients_hit"])
		q.say(source, name+"refused of class "+class, r[class+"_refused"])
	}
	q.say(source, name+"hit of doubted", r["doubted_clients_hit"])
	q.say(source, name+"refused of doubted", r["doubted_refused"])
}

// page collects what a page says of limits that affect few people, and its map has.
func (q *inquiry) page(source string, text []byte) {
	q.Helper()
	m := safeLine.FindSubmatch(text)
	if m == nil {
		q.Errorf("%s names no limit that affects no browsers", source)
		return
	}
	q.say(source, safest, string(m[1]))
	q.say(source, "window:"+q.n+"/1m: refused %", string(m[2]))
	for _, r := range rowsOf(q.T, "html", text) {
		if n, refused, both := strings.Cut(r["99.9 %"], " "); r["limit"] == "N per 1m" && both { // rolling windows come first
			q.say(source+", map", safest, n)
			q.say(source+", map", "window:"+q.n+"/1m: refused %", strings.TrimSuffix(refused, " %"))
			return
		}
	}
	q.Errorf("%s has no map of rolling windows", source)
}

// safestPoint returns the smallest limit that hits no browser that is believed.
func safestPoint(points []tree) string {
	for _, p := range points {
		if p.at("by_evidence", "believed", "clients_hit").text() == "0" {
			return p.at("limit").text()
		}
	}
	return "none"
}

func toInt(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	must(t, err)
	return n
}

// stored collects what tables and views say of the latest run.
func (q *inquiry) stored(source, db string) {
	q.Helper()
	ask := func(sql string) []row {
		return rowsOf(q.T, "csv", q.shadow("query", "--db", db, "--output", "csv", sql))
	}
	for _, r := range ask(`SELECT r.requests, count(*) FILTER (c.requests > 0) AS clients
		FROM latest_run r JOIN clients c USING (run) GROUP BY ALL`) {
		q.say(source, "requests", r["requests"])
		q.say(source, "clients", r["clients"])
	}
	for _, r := range ask(`SELECT policy, refused, printf('%.2f', refused_percent) AS percent, clients_hit, worst_minute_refused,
		bytes_saved, strftime(worst_minute, '%Y-%m-%dT%H:%M:%S.%fZ') AS worst FROM latest_policy_totals`) {
		q.say(source, r["policy"]+": refused", r["refused"])
		q.say(source, r["policy"]+": refused %", r["percent"])
		q.say(source, r["policy"]+": clients hit", r["clients_hit"])
		q.say(source, r["policy"]+": worst minute", r["worst_minute_refused"])
		q.say(source, r["policy"]+": worst minute begins", r["worst"])
		q.say(source, r["policy"]+": bytes saved", r["bytes_saved"])
	}
	for _, r := range ask(`SELECT policy, class, requests, refused, clients_hit FROM latest_class_totals`) {
		q.say(source, "requests of class "+r["class"], r["requests"])
		q.say(source, r["policy"]+": refused of class "+r["class"], r["refused"])
		q.say(source, r["policy"]+": hit of class "+r["class"], r["clients_hit"])
	}
	for _, r := range ask(`SELECT policy, client, requests, refused FROM latest_client_totals`) {
		if slices.Contains(q.clients, r["client"]) {
			q.say(source, r["policy"]+": requests of "+r["client"], r["requests"])
			q.say(source, r["policy"]+": refused of "+r["client"], r["refused"])
		}
	}
	source += ", its events"
	for _, r := range ask(`SELECT policy, sum(count)::BIGINT AS refused, count(DISTINCT client) AS hit
		FROM latest_would_blocks GROUP BY policy`) {
		q.say(source, r["policy"]+": refused", r["refused"])
		q.say(source, r["policy"]+": clients hit", r["hit"])
	}
	for _, r := range ask(`SELECT policy, max(n)::BIGINT AS worst
		FROM (SELECT policy, date_trunc('minute', time), sum(count) AS n FROM latest_would_blocks GROUP BY ALL) GROUP BY policy`) {
		q.say(source, r["policy"]+": worst minute", r["worst"])
	}
}

// storedIdentities collects what they say of who the clients are, and of curves.
func (q *inquiry) storedIdentities(source, db string) {
	q.Helper()
	ask := func(sql string) []row {
		rows := rowsOf(q.T, "csv", q.shadow("query", "--db", db, "--output", "csv", sql))
		if len(rows) == 0 {
			q.Fatalf("%s has no answer to %s", source, sql)
		}
		return rows
	}
	for _, r := range ask(`SELECT policy, identity, clients, refused, clients_hit FROM latest_identity_totals`) {
		group := strings.TrimSpace(groupOf.Replace(r["identity"] + " "))
		q.say(source, group, r["clients"])
		q.say(source, r["policy"]+": refused of "+group, r["refused"])
		q.say(source, r["policy"]+": hit of "+group, r["clients_hit"])
	}
	curve := ` FROM latest_curve_figures WHERE limit_kind = 'window' AND per_seconds = 60 `
	q.curveRow(source, ask(`SELECT *` + curve + `AND limit_count <= ` + q.n + ` ORDER BY limit_count DESC LIMIT 1`)[0])
	q.say(source, safest,
		ask(`SELECT min(limit_count) AS n` + curve + `AND browser_clients_hit = doubted_clients_hit`)[0]["n"])
}

// compared collects a comparison of the two policies.
func (q *inquiry) compared(format string, text []byte) {
	q.Helper()
	source := "diff as " + format
	q.head(source, format, text)
	for _, m := range refusesLine.FindAllSubmatch(tags.ReplaceAll(text, []byte(" ")), -1) {
		q.refuses(source, m)
	}
	if format == "csv" {
		for _, r := range rowsOf(q.T, format, text) {
			for i, side := range []string{"a", "b"} {
				if name, of := q.policies[i]+": ", r["level"]+" "+r["name"]; r["level"] == "class" || r["level"] == "identity" {
					q.say(source, name+"refused of "+strings.TrimPrefix(of, "identity "), r["refused_"+side])
				}
			}
		}
	}
	if format != "json" {
		return
	}
	v := treeOf(q.T, text)
	sum := func(of tree, only string) string {
		return strconv.FormatInt(int64(of.at(only).number()+of.at("both").number()), 10)
	}
	for i, side := range []string{"a", "b"} {
		name := q.policies[i] + ": "
		q.say(source, name+"refused", v.at(side, "refused").text())
		q.say(source, name+"means", v.at(side, "semantics").text())
		q.say(source, name+"clients hit", v.at(side, "clients_hit").text())
		q.say(source+", summed", name+"refused", sum(v.at("requests"), "only_"+side))
		q.say(source+", summed", name+"clients hit", sum(v.at("clients"), "only_"+side))
		for _, class := range fiveClasses {
			q.say(source, name+"refused of class "+class, sum(v.at("by_class", class, "requests"), "only_"+side))
			q.say(source, name+"hit of class "+class, sum(v.at("by_class", class, "clients"), "only_"+side))
		}
		for _, group := range identities {
			q.say(source, name+"refused of "+group, sum(v.at("by_identity", group, "requests"), "only_"+side))
			q.say(source, name+"hit of "+group, sum(v.at("by_identity", group, "clients"), "only_"+side))
		}
		for _, c := range v.at("top_movers").each() {
			if client := c.at("client").text(); slices.Contains(q.clients, client) {
				q.say(source, name+"requests of "+client, c.at("requests").text())
				q.say(source, name+"refused of "+client, c.at("refused_"+side).text())
			}
		}
	}
}

// explained collects the account of one client.
func (q *inquiry) explained(client, format string, text []byte) {
	q.Helper()
	source := "explain as " + format
	q.head(source, format, text)
	if format == "json" {
		v := treeOf(q.T, text)
		for _, p := range v.at("policies").each() {
			q.say(source, p.at("policy").text()+": requests of "+client, v.at("requests").text())
			q.say(source, p.at("policy").text()+": refused of "+client, p.at("refused").text())
			q.say(source, p.at("policy").text()+": means", p.at("semantics").text())
		}
		return
	}
	for i, m := range accountLine.FindAllSubmatch(text, -1) {
		q.say(source, q.policies[i]+": refused of "+client, string(m[1]))
		q.say(source, q.policies[i]+": requests of "+client, string(m[2])+string(m[3]))
	}
}

// keyed collects for which clients windows of a minute count by client.
func (q *inquiry) keyed(format string, text []byte) {
	q.Helper()
	source, name := "keys as "+format, "window:"+q.n+"/1m: "
	q.head(source, format, text)
	if format != "json" {
		for _, r := range rowsOf(q.T, format, text) {
			if r["key"] == "client" {
				q.say(source, name+"hit of browsers", r["hit"]+r["spare_hit"])
			}
		}
		return
	}
	v := treeOf(q.T, text)
	for _, k := range v.at("answers", 0, "keys").each() {
		if k.at("key").text() == "client" {
			q.say(source, name+"hit of browsers", k.at("spare_hit").text())
			q.say(source, name+"refused of browsers", k.at("spare_refused").text())
			q.say(source, name+"refused of the target", k.at("stopped").text())
		}
	}
}

// suggested collects a suggestion of a window of a minute, chosen on all of the log.
func (q *inquiry) suggested(format string, text []byte) {
	q.Helper()
	source := "suggest as " + format
	q.head(source, format, text)
	if format != "json" {
		for _, r := range rowsOf(q.T, format, text) {
			name := "window:" + q.n + "/1m: "
			chosen := r["role"] == "chosen" && r["part"] == "first"
			if chosen && slices.Contains(identities, r["group"]) {
				q.say(source, name+"refused of "+r["group"], r["refused"])
				q.say(source, name+"hit of "+r["group"], r["clients_hit"])
			}
		}
		return
	}
	a, name := treeOf(q.T, text).at("answers", 0), "window:"+q.n+"/1m: "
	best := regexp.MustCompile(`\d+`).FindString(a.at("best", 0).text())
	q.say(source, safest, best)
	for part, found := range map[string]tree{"chosen": a.at("suggestions", 0, "chosen", "first"), "whole": a.at("whole")} {
		if part == "whole" && a.at("whole", "limit").text() != "window:"+best+"/1m" { // a looser one that stops as much
			continue
		}
		q.say(source+", "+part, name+"refused", found.at("refused").text())
		q.say(source+", "+part, name+"clients hit", found.at("clients_hit").text())
		for _, group := range identities {
			q.say(source+", "+part, name+"refused of "+group, found.at("by_group", group, "refused").text())
			q.say(source+", "+part, name+"hit of "+group, found.at("by_group", group, "clients_hit").text())
		}
	}
}

// TestOneAnswer asks about three logs, and about a part of one.
func TestOneAnswer(t *testing.T) {
	whole := map[string]int{
		"requests": 40, "clients": 40, "people": 30, "programs": 30, "believed": 2, "doubted": 2, safest: 21,
		"refused": 35, "refused %": 15, "clients hit": 35, "worst minute": 15, "worst minute begins": 6, "means": 6,
		"hit of class tool": 20, "refused of class tool": 15,
		"hit of people": 12, "refused of people": 11, "hit of programs": 12, "refused of programs": 11, "bytes saved": 8,
		"hit of browsers": 3, "refused of browsers": 2, "refused of the target": 2,
	}
	short := maps.Clone(whole) // logs of some hours, whose reports show no safe limits
	short[safest] = 20
	all, some := []string{"table", "json", "csv", "markdown", "html"}, []string{"json", "html"}
	since, cold := []string{"--since", "2026-03-02T15:08:00Z"}, []string{"--since", "2026-03-02T15:08:00Z", "--cold"}
	for _, about := range []struct {
		name, log        string
		formats, reading []string
		least            map[string]int
	}{
		{"seconds", "shop-combined.log", all, nil, whole},
		{"milliseconds", "nginx-timed.log", all, nil, short},
		{"JSON", "api.json", all, nil, short},
		{"since a moment", "shop-combined.log", some, since, map[string]int{"refused": 15, safest: 6}},
		{"since a moment, cold", "shop-combined.log", some, cold, map[string]int{"refused": 15, safest: 8}},
	} {
		t.Run(about.name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("../../sample-logs", about.log))
			must(t, err)
			q := &inquiry{poll: newPoll(t), dir: t.TempDir(), log: about.log, formats: about.formats, reading: about.reading}
			must(t, os.WriteFile(filepath.Join(q.dir, about.log), text, 0o600))
			q.ask()
			least := map[string]int{q.policies[1] + ": refused of " + q.clients[0]: about.least["refused"] / 3}
			for question, n := range about.least {
				if _, general := q.answers[question]; !general {
					question = q.policies[1] + ": " + question
				}
				least[question] = n
			}
			q.count(least)
		})
	}
}

const safest = "safest N of window:N/1m for 99.9% of the browsers"

func (q *inquiry) ask() {
	q.Helper()
	window := []string{"--kind", "window", "--per", "1m"}
	first := treeOf(q.T, q.shadow(append([]string{"sweep", q.log, "--evidence", "--no-store", "--output", "json"}, window...)...))
	q.n = safestPoint(first.at("curves", 0, "points").each())
	q.policies = []string{"token:6/30s", "window:" + q.n + "/1m"}
	top := treeOf(q.T, q.shadow(q.judged("replay", "--no-store", "--output", "json")...))
	for _, c := range top.at("policies", 1, "top_clients").each()[:1] {
		q.clients = append(q.clients, c.at("client").text())
	}
	q.read()
	stored := []string{"night0.db"}
	if q.reading == nil {
		q.stdinTail()
		stored = append(stored, "tailed.db")
	}
	for _, db := range stored {
		q.stored("database "+db, db)
		for _, format := range q.formats {
			text := q.shadow("report", "--db", db, "--output", format, "--compare", "none")
			q.replayed("report of "+db, format, text)
			if format == "html" && db != "tailed.db" {
				q.page("report of "+db, text)
			}
		}
	}
	q.storedIdentities("database", "night0.db")
	for _, format := range q.formats {
		q.swept("report of a sweep", format, q.shadow("report", "--run", "1", "--db", "swept.db", "--output", format))
	}
	q.apart()
	q.history()
	for _, p := range q.policies {
		meant := treeOf(q.T, q.shadow("limits", "explain", p, "--output", "json"))
		q.say("limits explain", p+": means", meant.at("policies", 0, 0, "means").text())
	}
	q.sums()
}

// read asks the commands that read the log.
func (q *inquiry) read() {
	q.Helper()
	for i, format := range q.formats {
		with := []string{"--output", format, "--evidence"}
		q.replayed("replay", format, q.shadow(q.judged("replay", append(with, "--no-store")...)...))
		text := q.shadow(q.judged("replay", append(with, "--sweep", "--db", fmt.Sprintf("night%d.db", i))...)...)
		q.replayed("replay --sweep", format, text)
		q.swept("sweep", format, q.shadow("sweep", q.log, "--evidence", "--output", format, "--db", "swept.db"))
		q.compared(format, q.shadow(q.judged("diff", "--evidence", "--output", format)...))
		q.keyed(format, q.shadow("keys", q.log, "--limit", q.policies[1], "--output", format))
		if format == "html" {
			q.page("replay --sweep", text)
			continue
		}
		if q.reading == nil || slices.Contains(q.reading, "--cold") { // suggest starts cold
			q.suggested(format, q.shadow("suggest", q.log, "--holdout", "0", "--band=false",
				"--kind", "window", "--per", "1m", "--details", "--output", format))
		}
		if format == "table" || format == "json" {
			for _, client := range q.clients {
				q.explained(client, format, q.shadow("explain", client, q.log,
					"--limit", q.policies[0], "--limit", q.policies[1], "--output", format))
			}
		}
	}
}

// apart asks the page of a run whose curves are those of another: not the latest, but that with evidence.
func (q *inquiry) apart() {
	q.Helper()
	q.shadow(q.judged("replay", "--evidence", "--db", "apart.db", "--quiet")...)
	q.shadow("sweep", q.log, "--evidence", "--db", "apart.db", "--quiet")
	q.shadow("sweep", q.log, "--db", "apart.db", "--quiet")
	q.page("report with the curves of a sweep", q.shadow("report", "--db", "apart.db", "--run", "1", "--output", "html"))
	for i, r := range rowsOf(q.T, "csv", q.shadow("report", "runs", "--db", "apart.db", "--output", "csv")) {
		q.say(fmt.Sprint("runs, ", i+1), "requests", r["requests"])
		q.say(fmt.Sprint("runs, ", i+1), "clients", r["clients"])
	}
	for i, db := range []string{"night0.db", "swept.db"} {
		runs := rowsOf(q.T, "csv", q.shadow("report", "runs", "--db", db, "--output", "csv"))
		q.say("runs", "what made "+db, runs[0]["kind"])
		q.say("its command", "what made "+db, []string{"replay", "sweep"}[i])
	}
}

// sums adds up what others say in one.
func (q *inquiry) sums() {
	name := "window:" + q.n + "/1m: "
	for whole, groups := range map[string][]string{"the target": identities[3:8], "browsers": identities[:3]} {
		for _, figure := range []string{name + "refused of ", name + "hit of "} {
			sum := int64(0)
			for _, group := range groups {
				if group != "search" {
					sum += toInt(q.T, q.answers[figure+group]["replay as json"])
				}
			}
			q.say("replay, summed", figure+whole, strconv.FormatInt(sum, 10))
			if whole == "browsers" {
				q.say("replay, summed", figure+"believed", strconv.FormatInt(sum, 10))
			}
		}
	}
}

// TestOneAnswerOfANight asks a night that holds requests back, and a sweep of the others.
func TestOneAnswerOfANight(t *testing.T) {
	text, err := os.ReadFile("../../sample-logs/shop-combined.log")
	must(t, err)
	q := &inquiry{poll: newPoll(t), dir: t.TempDir(), log: "shop.log", n: "16"}
	q.policies = []string{"token:6/30s", "window:" + q.n + "/1m"}
	must(t, os.WriteFile(filepath.Join(q.dir, q.log), text, 0o600))
	night := q.shadow(q.judged("replay", "--resume", "--evidence", "--sweep", "--output", "json")...)
	q.replayed("night", "json", night)
	q.page("report of a night", q.shadow("report", "--output", "html"))
	q.storedIdentities("database", "shadow.db")
	held := treeOf(t, night).at("input", "held_from").text()
	q.swept("sweep", "json", q.shadow("sweep", q.log, "--until", held, "--evidence", "--no-store", "--output", "json"))
	q.count(map[string]int{"requests": 2, safest: 4, "window:16/1m: hit of people": 2})
}

// stdinTail has a tail read the log to its end.
func (q *inquiry) stdinTail() {
	q.Helper()
	log, err := os.Open(filepath.Join(q.dir, q.log))
	must(q.T, err)
	defer log.Close()
	args := []string{"tail", "-", "--state", "state", "--db", "tailed.db", "--would-blocks", "told", "--quiet"}
	for _, p := range q.policies {
		args = append(args, "--limit", p)
	}
	cmd := command(q.T, q.dir, args...)
	cmd.Stdin = log
	if out, err := cmd.CombinedOutput(); err != nil {
		q.Fatalf("tail: %v\n%s", err, out)
	}
	told, err := os.ReadFile(filepath.Join(q.dir, "told"))
	must(q.T, err)
	refused, minutes, hit := map[string]int64{}, map[string]map[time.Time]int64{}, map[string]map[string]bool{}
	for line := range bytes.Lines(told) {
		var one struct {
			Time           time.Time
			Policy, Client string
		}
		must(q.T, json.Unmarshal(line, &one))
		if minutes[one.Policy] == nil {
			minutes[one.Policy], hit[one.Policy] = map[time.Time]int64{}, map[string]bool{}
		}
		refused[one.Policy]++
		minutes[one.Policy][one.Time.Truncate(time.Minute)]++
		hit[one.Policy][one.Client] = true
	}
	for _, p := range q.policies {
		worst := int64(0)
		for _, n := range minutes[p] {
			worst = max(worst, n)
		}
		q.say("would-blocks of a tail", p+": refused", strconv.FormatInt(refused[p], 10))
		q.say("would-blocks of a tail", p+": worst minute", strconv.FormatInt(worst, 10))
		q.say("would-blocks of a tail", p+": clients hit", strconv.Itoa(len(hit[p])))
	}
}

// history collects what a report says of safe limits and of trends, once there are two nights alike.
func (q *inquiry) history() {
	q.Helper()
	q.shadow(q.judged("replay", "--evidence", "--sweep", "--db", "night0.db", "--quiet")...)
	h := treeOf(q.T, q.shadow("report", "--db", "night0.db", "--output", "json")).at("history")
	for _, l := range h.at("safe_limits", "limits").each() {
		if m := regexp.MustCompile(`^window:(\d+)/1m$`).FindStringSubmatch(l.at("now").text()); m != nil {
			q.say("report, safe limits", safest, m[1])
		}
	}
	for _, p := range h.at("policies").each() {
		name := p.at("policy").text() + ": "
		for _, r := range p.at("trend").each() {
			q.say("report, trend", "requests", r.at("requests").text())
			q.say("report, trend", name+"refused", r.at("refused").text())
			q.say("report, trend", name+"clients hit", r.at("clients_hit").text())
			for _, class := range fiveClasses {
				q.say("report, trend", name+"hit of class "+class, r.at("clients_hit_by_class", class).text())
			}
		}
		q.say("report, before", name+"refused", p.at("before", "refused").text())
	}
}

// On real logs the page begins with the answer of suggest, and shows of that limit and of another one what a replay says.
func TestExploreKnowsRealLogs(t *testing.T) {
	logs, err := filepath.Glob("../../../shared/logs/*/*")
	must(t, err)
	if len(logs) == 0 {
		t.Skip("the real logs are not here")
	}
	before, seen := "", 0
	for _, log := range logs {
		folder, name := filepath.Split(log)
		is := strings.Contains(name, "log") && !strings.HasSuffix(name, ".txt")
		if !is || folder == before && !strings.Contains(folder, "odd-formats") && testneeds.Draws(0, 1) == 0 {
			continue // of several files of one site the first will do, but at night
		}
		before = folder
		log, err := filepath.Abs(log)
		must(t, err)
		cmd := command(t, t.TempDir(), "suggest", log, "--output", "json")
		out, err := cmd.Output()
		if err != nil {
			continue // suggest has no answer, or wants a format
		}
		seen++
		t.Run(filepath.Base(folder)+"/"+name, func(t *testing.T) { explored(t, log, out) })
	}
	if seen < 20 {
		t.Errorf("%d logs have an answer", seen)
	}
}

func explored(t *testing.T, log string, suggested []byte) {
	t.Helper()
	var want struct{ Answer struct{ Limit string } }
	must(t, json.Unmarshal(suggested, &want))
	limits := []string{cmp.Or(want.Answer.Limit, "window:60/1m"), "window:3/1m"}
	v := visitPage(t, serve(t, t.TempDir(), log), 1200)
	var replayed struct {
		Policies []struct {
			Refused, Requests, Clients int64
			ClientsHit                 int64 `json:"clients_hit"`
			TopClients                 []struct {
				Client  string
				Refused int64
			} `json:"top_clients"`
		}
	}
	out := run(t, t.TempDir(), "replay", log, "--limit", limits[0], "--limit", limits[1], "--top", "1", "--no-store", "--output", "json")
	must(t, json.Unmarshal(out, &replayed))
	for i, limit := range limits {
		if i > 0 {
			v.do(fmt.Sprintf(`document.getElementById("limit").value = %q; document.getElementById("limit").dispatchEvent(new Event("change"))`, limit))
		}
		v.until(fmt.Sprintf(`document.querySelectorAll("#groups .sum").length === 1 && document.getElementById("hit-limit").textContent === %q`, limit))
		p := &replayed.Policies[i]
		want := fmt.Sprint(p.Clients, p.ClientsHit, p.Requests, p.Refused)
		if len(p.TopClients) > 0 && p.Refused > 0 {
			want += fmt.Sprint(" ", p.TopClients[0].Refused)
		}
		got := strings.Join([]string{
			v.text("#groups .sum td:nth-child(3)"), v.text("#groups .sum td:nth-child(4)"), v.text("#groups .sum td:nth-child(6)"), v.text("#groups .sum td:nth-child(7)"),
		}, " ")
		if len(p.TopClients) > 0 && p.Refused > 0 {
			got += " " + v.text("#clients tbody tr td:nth-child(5)")
		}
		if strings.ReplaceAll(got, ",", "") != want {
			t.Errorf("%s: the page has %s, a replay %s", limit, got, want)
		}
	}
}
