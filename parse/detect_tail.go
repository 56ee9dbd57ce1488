package parse

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
)

// Many logs are combined with something behind the agent. What stands there is not declared anywhere, so a column is
// used only if all its values leave no doubt:
//
//	"-"  "192.0.2.7, 10.0.0.1"    in quotes, nearly all lists of addresses: $http_x_forwarded_for
//	1767225610.250                within seconds of the stamp:              $msec
//	0.004                         three decimals as nginx writes them:      $request_time
//	0.003  -  "0.001, 0.002"      the same, but it may be missing:          $upstream_response_time
//
// Everything else is read over.

// tailShare is how many of the lines that can be read, in percent, must have the same number of fields behind the
// agent for these to be looked at.
const tailShare = 90

// withTail is the detection with the columns behind the agent that are beyond doubt, if there are any; and with the
// name of a format without agents if there are none.
func (d Detection) withTail(lines [][]byte, w Wants) (Detection, error) {
	d, err := d.withoutAgents(lines, w)
	if err != nil || !strings.Contains(d.Format.Text, "$") {
		return d, err
	}
	if d.Format.Name == "combined" {
		for _, name := range [...]string{"traefik", "ingress-nginx"} {
			if f, err := compile(catalogueText(name), w, name, false); err == nil && d.asGood(judge(f, lines)) {
				format, err := Named(name, w)
				return judge(format, lines), err
			}
		}
	}
	return d.longer(readTail(d.Format, lines), lines, w), nil
}

// withoutAgents takes the shorter format where no line has a referer or an agent.
func (d Detection) withoutAgents(lines [][]byte, w Wants) (Detection, error) {
	short := shorter[d.Format.Name]
	if short == "" || d.agents > 0 || hasQuotes(lines, len(fieldsOf(catalogueText(short)))) {
		return d, nil
	}
	format, err := Named(short, w)
	if err != nil {
		return d, err
	}
	return judge(format, lines), nil
}

// longer takes the format with the columns of the tail that are known. It stays as it is where the compiler cannot
// tell a column from its neighbour, or fewer lines could be read.
func (d Detection) longer(t tail, lines [][]byte, w Wants) Detection {
	text, found := t.text()
	if found == "" {
		return d
	}
	name := d.Format.Name + " with " + found
	if d.Format.Text+text == catalogueText("main") {
		name = "main"
	}
	format, err := compileLenient(d.Format.Text+text, w, name)
	if err != nil {
		return d
	}
	if longer := judge(format, lines); d.asGood(longer) {
		return longer
	}
	return d
}

// asGood tells whether another format reads as many lines, but for one in a thousand.
func (d Detection) asGood(other Detection) bool { return other.Read*1000 >= d.Read*999 }

// hasQuotes tells whether most lines have a quoted field behind the first n.
func hasQuotes(lines [][]byte, n int) bool {
	return mostly(lines, func(line []byte) bool {
		fields := fieldsOf(string(line[:min(len(line), maxTailLine)]))
		return len(fields) > n && fields[n][0] == '"'
	})
}

// maxTailLine is the longest line, in bytes, that is taken apart.
const maxTailLine = 4096

// A tail is what stands behind the last field of a format, column by column.
type tail struct {
	lines   int
	columns []column
}

// A column is one field behind the last, over all lines.
type column struct {
	place  int    // from 1
	shape  string // how it is written: `"%s"`, `[%s]` or `%s`
	list   bool   // whether a value went on behind a comma
	values []string
	stamps []limit.Time // of the lines
}

// readTail takes the columns from the lines that have as many as most do.
func readTail(base *Format, lines [][]byte) tail {
	n := len(fieldsOf(base.Text))
	var r Record
	p := base.NewParser()
	byCount := map[int]*tail{}
	read := 0
	for _, line := range lines {
		if len(line) > maxTailLine || !p.Parse(bytes.Clone(line), &r).OK() {
			continue
		}
		read++
		fields := fieldsOf(string(line))
		if len(fields) <= n {
			continue
		}
		t := byCount[len(fields)]
		if t == nil {
			t = &tail{columns: make([]column, len(fields)-n)}
			byCount[len(fields)] = t
		}
		t.add(fields[n:], r.Stamp)
	}
	for _, t := range byCount {
		if t.lines*100 >= tailShare*read {
			return *t
		}
	}
	return tail{}
}

func (t *tail) add(fields []string, stamp limit.Time) {
	t.lines++
	for i, field := range fields {
		c := &t.columns[i]
		shape, value := shapeOf(field)
		if t.lines == 1 {
			c.place, c.shape = i+1, shape
		} else if c.shape != shape {
			c.shape = "%s"
		}
		c.list = c.list || strings.Contains(field, " ")
		c.values = append(c.values, value)
		c.stamps = append(c.stamps, stamp)
	}
}

// text is the tail as a log_format has it, up to the last column that is known, and the names of those that are.
func (t tail) text() (text, found string) {
	var b strings.Builder
	var names []string
	for i, variable := range t.variables() {
		c := &t.columns[i]
		if variable == "" {
			fmt.Fprintf(&b, " "+c.shape, c.placeholder())
			continue
		}
		fmt.Fprintf(&b, " "+c.shape, variable)
		text = b.String()
		names = append(names, variable)
	}
	return text, strings.Join(names, ", ")
}

// placeholder is a variable for a column that is read over. One that may go on behind a comma is called as nginx
// calls such variables.
func (c *column) placeholder() string {
	if c.list {
		return fmt.Sprintf("$upstream_field%d", c.place)
	}
	return fmt.Sprintf("$field%d", c.place)
}

// variables says what each column is, "" where there is doubt.
func (t tail) variables() []string {
	names := make([]string, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		switch {
		case c.forwarded() && !slices.Contains(names, "$http_x_forwarded_for"):
			names[i] = "$http_x_forwarded_for"
		case c.all(c.isMsec) && !slices.Contains(names, "$msec"):
			names[i] = "$msec"
		}
	}
	took, upstream := t.durations()
	if took != nil {
		names[took.place-1] = "$request_time"
	}
	if upstream != nil {
		names[upstream.place-1] = "$upstream_response_time"
	}
	return names
}

// durations finds the column of $request_time, which is never "-" and never less than the upstreams' time, and that
// of $upstream_response_time. With more columns like them, which one is the upstreams' time is anybody's guess.
func (t tail) durations() (took, upstream *column) {
	var all []*column
	for i := range t.columns {
		if c := &t.columns[i]; c.all(c.isDurations) && slices.ContainsFunc(c.values, isLogged) {
			all = append(all, c)
		}
	}
	for _, c := range all {
		if c.all(func(i int) bool { return isMillis(c.values[i]) }) && c.longest(all) {
			took = c
			break
		}
	}
	if took == nil && len(all) != 1 {
		return nil, nil
	}
	rest := slices.DeleteFunc(all, func(c *column) bool { return c == took })
	if len(rest) == 1 {
		upstream = rest[0]
	}
	return took, upstream
}

// longest tells whether a column's durations are nowhere less than another's, but for the rounding of both.
func (c *column) longest(all []*column) bool {
	for _, other := range all {
		for i := range c.values {
			sum, ok := durations([]byte(other.values[i]), unitSeconds)
			own, _ := duration([]byte(c.values[i]), unitSeconds)
			if !ok || sum > own+2*limit.Millisecond {
				return false
			}
		}
	}
	return true
}

// all tells whether something holds for each value.
func (c *column) all(holds func(i int) bool) bool {
	for i := range c.values {
		if !holds(i) {
			return false
		}
	}
	return len(c.values) > 0
}

// forwarded tells whether a column is X-Forwarded-For. With nothing but "-" in it, it must be the first one, where
// nginx's "main" has it. Clients can write what they like into the header: for each odd value there must be
// forwardedPerOdd lists of addresses.
func (c *column) forwarded() bool {
	if c.shape != `"%s"` {
		return false
	}
	lists, odd := 0, 0
	for _, value := range c.values {
		switch {
		case isAddressList(value):
			lists++
		case value != "-":
			odd++
		}
	}
	if lists == 0 {
		return c.place == 1 && odd == 0
	}
	return odd*forwardedPerOdd <= lists
}

// forwardedPerOdd is how many lists of addresses outweigh a value that is none.
const forwardedPerOdd = 9

// isMsec tells whether a value is the stamp of its line again, to the millisecond.
func (c *column) isMsec(i int) bool {
	if !isMillis(c.values[i]) || len(c.values[i]) < 14 {
		return false
	}
	t, ok := epoch([]byte(c.values[i]))
	return ok && t-c.stamps[i] < 2*limit.Second && c.stamps[i]-t < 2*limit.Second
}

// isLogged tells whether there is more to a value than "-".
func isLogged(value string) bool { return strings.Trim(value, "-,: ") != "" }

// isDurations tells whether a value is "-" or a list of nginx's durations.
func (c *column) isDurations(i int) bool {
	for _, part := range strings.FieldsFunc(c.values[i], func(r rune) bool { return strings.ContainsRune(",: ", r) }) {
		if part != "-" && (!isMillis(part) || len(part) > 9) {
			return false
		}
	}
	return c.values[i] != ""
}
