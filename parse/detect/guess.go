package detect

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/parse"
)

// A log that no format reads is taken apart into columns (layout.go). Each column may be several things: a count can be a
// status, a size or a port. So whole rows of meanings are weighed against each other, and the heaviest one is taken:
//
//	[0.375]      [PORT 80]  "GET / HTTP/1.1"  200      312     "-"       "curl/8.5.0"
//	request_time field      request           status   bytes   referer   agent
//
// A meaning weighs what its values show, and more next to those that servers log beside it.

// A meaning is one thing that a column can be.
type meaning struct {
	name     string // of the variable
	weight   int    // of a column whose values all show it
	needs    string // a meaning of a column before it
	next     string // a meaning that mostly stands in the next column
	adds     int    // what such a neighbour adds
	forgoes  string // a meaning that a row has instead
	behind   bool   // whether what it needs is in the column before
	nothing  bool   // whether a column of nothing but "-" can be it: behind the agent forwarded addresses, else others
	looks    func() *regexp.Regexp
	property func(value string) bool
}

// meanings lists what is looked for. Nearly all values of a column must look like a meaning.
var meanings = []meaning{
	{name: "time_local", weight: 20, looks: lazy.Regexp(`^\d\d/[A-Za-z]{3}/\d{4}[: ]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d{4})?$`), forgoes: "time_iso8601"},
	{name: "time_iso8601", weight: 20, looks: lazy.Regexp(`^\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?( ?(Z|UTC|[+-]\d\d:?\d\d))?$`)},
	{name: "msec", weight: 9, looks: lazy.Regexp(`^1\d{9}(\.\d+|\d{3})?$`)},
	{name: "remote_addr", weight: 12, property: parsesAsAddress, next: "http_x_forwarded_for", adds: 4},
	{name: "request", weight: 16, looks: lazy.Regexp(`^("?[A-Za-z_-]+ +"?(/|\*|\w+://|[\w.-]+:\d+).*|-|<BADREQ>)$`), next: "status", adds: 4},
	{name: "request_method", weight: 7, looks: lazy.Regexp(`^(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|PROPFIND|REPORT|MKCOL|-)$`), next: "request_uri", adds: 3, forgoes: "request"},
	{name: "request_uri", weight: 7, needs: "request_method", looks: lazy.Regexp(`^((/|\w+://)\S*|-)$`), next: "status", adds: 2},
	{name: "args", weight: 4, needs: "request_uri", behind: true, looks: lazy.Regexp(`^(\?.*|[^\s/?:=&]+=\S*|-|)$`), next: "status", adds: 2},
	{name: "status", weight: 6, property: isStatus, next: "body_bytes_sent", adds: 4},
	{name: "body_bytes_sent", weight: 3, needs: "status", looks: lazy.Regexp(`^(\d+|-)$`), nothing: true},
	{name: "request_time", weight: 3, looks: lazy.Regexp(`^(\d+\.\d{3}|\d+(\.\d+)?[mnuµ]?s)$`)},
	{name: "http_referer", weight: 5, needs: "status", looks: lazy.Regexp(`^([a-z-]+://.*|-|)$`), nothing: true, next: "http_user_agent", adds: 6},
	{name: "http_user_agent", weight: 8, looks: lazy.Regexp(`^(.*[A-Za-z].*[/ ;].*|[A-Za-z][\w.-]+|-|)$`), next: "http_referer", adds: 2},
	{name: "http_x_forwarded_for", weight: 5, needs: "remote_addr", property: isForwarded, nothing: true},
	{name: "host", weight: 2, looks: lazy.Regexp(`^([a-z0-9_-]+\.)+[a-z]{2,}(:\d+)?$`)},
}

// What stands for no meaning.
const unknown = -1

const (
	guessShare = 90  // percent of the lines whose value must look like a meaning
	guessLines = 200 // that are taken apart
	readGuess  = 5   // the fewest lines that are read by a guess; of fewer it is proposed
)

func parsesAsAddress(value string) bool {
	if host, port, found := strings.Cut(value, ":"); found && isDigits(port) {
		value = host
	}
	value = strings.Trim(value, "[]")
	_, ok := parse.Addr([]byte(value))
	return ok
}

// isForwarded reports whether a value may be of X-Forwarded-For. One address with a port is that of an upstream.
func isForwarded(value string) bool {
	_, err := netip.ParseAddrPort(value)
	return err != nil && (value == "-" || value == "" || isAddressList(value))
}

// isStatus reports whether a value is a status that servers send, as few other numbers of three digits are.
func isStatus(value string) bool {
	status, err := strconv.Atoi(value)
	if err != nil || len(value) != 3 {
		return value == "-"
	}
	return status == 0 || slices.ContainsFunc(statuses, func(s [2]int) bool { return s[0] <= status && status <= s[1] })
}

// statuses holds the statuses that servers send, from and to: those that are registered, which a test compares with
// net/http, and those of nginx, of load balancers and of CDNs. net/http itself would bring TLS into every program.
var statuses = [][2]int{
	{100, 103},
	{200, 208},
	{226, 226},
	{300, 305},
	{307, 308},
	{400, 418},
	{421, 426},
	{428, 429},
	{431, 431},
	{444, 444},
	{451, 451},
	{460, 460},
	{494, 499},
	{500, 508},
	{510, 511},
	{520, 530},
}

// versioned matches agents, and no words of other columns: a name with a version.
var versioned = lazy.Regexp(`^[^/]*[A-GI-Za-z][^/ ]*/v?\d+\.\d|^Mozilla`)

// shows returns how much the values of a column show a meaning, in percent of its weight; 0 where they do not.
func (m *meaning) shows(values []string) int {
	n, says := 0, 0
	for _, value := range values {
		if m.property != nil && m.property(value) || m.property == nil && m.looks().MatchString(value) {
			n++
			if value != "-" && value != "" {
				says++
			}
		}
	}
	switch {
	case n*100 < guessShare*len(values) || n == 0, !m.nothing && 2*says < len(values) && (!m.behind || says == 0):
		return 0
	case m.name == "http_user_agent" && (!slices.ContainsFunc(values, versioned().MatchString) || strings.HasPrefix(values[0], "HTTP/")):
		return 0
	case m.name == "body_bytes_sent" && meanings[meaningOf("status")].shows(values) > 0:
		return 0
	}
	if m.name == "http_x_forwarded_for" && slices.ContainsFunc(values, isList) {
		return lists
	}
	return nothing + (100-nothing)*says/len(values)
}

// How much a column of nothing but "-" shows, and one of lists of addresses.
const nothing, lists = 5, 200

// meant is the meaning of a column, or unknown, and what this and all columns behind it weigh.
type meant struct{ weight, is int }

// A weighing finds the heaviest row of meanings.
type weighing struct {
	shown [][]int // by column and meaning
	done  map[weighed]meant
}

// weighed is all that what is left depends on: the column, the meanings used, and that of the column before.
type weighed struct {
	column, last int
	used         uint32
}

// mostWeighed bounds what odd lines can cost: beyond it columns are unknown.
const mostWeighed = 1 << 16

// weigh returns what each column is.
func weigh(columns [][]string) (is []int) {
	w := weighing{done: map[weighed]meant{}}
	for _, values := range columns {
		shown := mapped.Of(meanings, func(m meaning) int { return m.shows(values) })
		w.shown = append(w.shown, shown)
	}
	w.best(weighed{last: unknown})
	for at := (weighed{last: unknown}); at.column < len(columns); {
		m := w.best(at).is
		is, at = append(is, m), at.behind(m)
	}
	placeClient(columns, w.shown, is)
	if took := slices.Index(is, meaningOf("request_time")); took >= 0 && took+1 < len(is) && columns[took+1][0] == millis {
		is[took] = unknown
	}
	return is
}

// millis stands behind durations in a unit that no variable has.
const millis = "ms"

// behind is where the next column is weighed, if a meaning is taken for this one.
func (at weighed) behind(is int) weighed {
	if at.column, at.last = at.column+1, is; is != unknown {
		at.used |= 1 << is
	}
	return at
}

func (w *weighing) best(at weighed) meant {
	if at.column == len(w.shown) {
		return meant{}
	}
	best, done := w.done[at]
	if done {
		return best
	} else if len(w.done) > mostWeighed {
		return meant{0, unknown}
	}
	best = meant{w.best(at.behind(unknown)).weight, unknown}
	for i, shown := range w.shown[at.column] {
		m := &meanings[i]
		if shown == 0 || at.used&(1<<i) != 0 || !allowed(i, at) && shown != lists || shown == nothing && !m.besides(at.last) {
			continue
		}
		weight := m.weight*shown + w.best(at.behind(i)).weight
		if at.last != unknown && meanings[at.last].next == m.name {
			weight += 100 * meanings[at.last].adds
		}
		if weight >= best.weight { // of equal ones the first
			best = meant{weight, i}
		}
	}
	w.done[at] = best
	return best
}

// besides reports whether a column of nothing but "-" can be a meaning behind another one.
func (m *meaning) besides(last int) bool {
	switch m.name {
	case "body_bytes_sent":
		return last == meaningOf("status")
	case "http_x_forwarded_for":
		return last == meaningOf("http_user_agent")
	}
	return last != meaningOf("http_user_agent")
}

// allowed reports whether a meaning may follow those that are used.
func allowed(i int, at weighed) bool {
	has := func(name string) bool { return name != "" && at.used&(1<<meaningOf(name)) != 0 }
	m := &meanings[i]
	return !(m.behind && at.last != meaningOf(m.needs)) && (m.needs == "" || has(m.needs)) && !has(m.forgoes) && !(m.name == "request" && has("request_method"))
}

func meaningOf(name string) int {
	return slices.IndexFunc(meanings, func(m meaning) bool { return m.name == name })
}

// placeClient takes for the client the last address before a list of forwarded ones; of others that are no list the
// first, unless it never changes and another does. One address behind all clients is the server's, and not forwarded.
func placeClient(columns [][]string, shown [][]int, is []int) {
	client, forwarded := meaningOf("remote_addr"), meaningOf("http_x_forwarded_for")
	at, list := slices.Index(is, client), slices.Index(is, forwarded)
	if at < 0 {
		return
	}
	if list >= 0 && constant(columns[list]) && parsesAsAddress(columns[list][0]) && !constant(columns[at]) {
		is[list], list = unknown, -1
	}
	better, request := at, slices.IndexFunc(is, func(i int) bool { return i != unknown && strings.HasPrefix(meanings[i].name, "request") })
	for i := range columns {
		switch {
		case shown[i][client] == 0 || is[i] != unknown && i != at:
		case list >= 0 && slices.ContainsFunc(columns[list], isList):
			if i < list {
				better = i
			}
		case i < request && constant(columns[better]) && !constant(columns[i]):
			better = i
		}
	}
	is[at], is[better] = unknown, client
}

func isList(value string) bool { return strings.Contains(value, ",") }

func constant(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// guessedName names formats that are guessed.
const guessedName = "guessed"

// A guess is a format that the values of lines show.
type guess struct {
	Detection
	text   string
	unsure string // what else could have been chosen
}

// guess proposes a format that reads the lines; the zero guess if none is found.
func (d *Detector) guess(lines [][]byte) (best guess) {
	compile := func(text string, o parse.Options) (*parse.Format, error) {
		return parse.CompileAs(text, o, guessedName, false)
	}
	for _, open := range []string{"", `"`} { // some logs put a quote in front of each line
		best = best.or(d.guessed(lines, apart(lines, open), (*layout).text, compile))
	}
	compile = func(text string, o parse.Options) (*parse.Format, error) {
		return parse.CompileNamedColumns(guessedName, text, o)
	}
	for _, separator := range parse.Separators() {
		best = best.or(d.guessed(lines, divided(lines, separator), (*layout).header, compile))
	}
	return best
}

// or returns the better one of two guesses.
func (g guess) or(other guess) guess {
	if other.Format != nil && (g.Format == nil || other.better(g.Detection, false)) {
		return other
	}
	return g
}

// guessed compiles what the columns of a layout are, and judges it.
func (d *Detector) guessed(lines [][]byte, l *layout, write func(*layout, []int) string, compile func(string, parse.Options) (*parse.Format, error)) guess {
	if l == nil {
		return guess{}
	}
	is := weigh(l.columns)
	text := write(l, is)
	format, err := d.once("guess\n"+text, func() (*parse.Format, error) { return compile(text, d.choice.Options) })
	if err != nil || !format.Has(parse.FieldPath) || !slices.ContainsFunc(l.columns, func(values []string) bool {
		return slices.ContainsFunc(values, isAddressList)
	}) {
		return guess{}
	}
	if found := judge(format, lines, nil); found.sound*100 >= guessShare*len(lines) {
		return guess{found, text, l.unsure(is)}
	}
	return guess{}
}

// taken is the guess as what is read, with a warning of it.
func (g guess) taken() Detection {
	g.Warnings = append(g.Warnings, fmt.Sprintf("the format is guessed from the values%s; see with shadow doctor parse whether each field is "+
		"what it is called, and state it: --format %s", g.unsure, quoteShell(g.text)))
	return g.Detection
}

func quoteShell(text string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "\t", `\t`).Replace(text) + "'"
}

// unsure says which columns could have been chosen as well, "" if there are none.
func (l *layout) unsure(is []int) (text string) {
	for _, name := range []string{"remote_addr", "status", "request_time"} {
		m := meaningOf(name)
		at := slices.Index(is, m)
		for i, values := range l.columns {
			if at >= 0 && is[i] == unknown && meanings[m].shows(values) > 0 {
				text += fmt.Sprintf("; $%s is field %d (%s), not field %d (%s)", name, at+1, l.columns[at][0], i+1, values[0])
			}
		}
	}
	return text
}
