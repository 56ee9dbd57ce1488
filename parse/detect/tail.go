package detect

import (
	"bytes"
	"fmt"
	"strings"

	"shadow/limit"
	"shadow/parse"
)

// Many logs are combined with something behind the agent. What stands there is not declared anywhere, so a column is
// used only if all its values leave no doubt (column.go); everything else is read over.

// tailShare is how many of the lines that can be read, in percent, must have the same number of fields behind the
// agent for these to be looked at.
const tailShare = 90

// withTail is the detection with the columns behind the agent that are beyond doubt, if there are any; and with the
// name of a format without agents if there are none.
func (d Detection) withTail(lines [][]byte, o parse.Options) (Detection, error) {
	d, err := d.withoutAgents(lines, o)
	if err != nil || !strings.Contains(d.Format.Text, "$") {
		return d, err
	}
	if d.Format.Name == "combined" {
		for _, name := range [...]string{"traefik", "ingress-nginx"} {
			if f, err := parse.CompileAs(catalogueText(name), o, name, false); err == nil && d.asGood(judge(f, lines)) {
				format, err := Named(name, o)
				return judge(format, lines), err
			}
		}
	}
	return d.longer(readTail(d.Format, lines), lines, o), nil
}

// withoutAgents takes the shorter format where no line has a referer or an agent.
func (d Detection) withoutAgents(lines [][]byte, o parse.Options) (Detection, error) {
	short := shorter[d.Format.Name]
	if short == "" || d.agents > 0 || hasQuotes(lines, len(fieldsOf(catalogueText(short)))) {
		return d, nil
	}
	format, err := Named(short, o)
	if err != nil {
		return d, err
	}
	return judge(format, lines), nil
}

// longer takes the format with the columns of the tail that are known. It stays as it is where the compiler cannot
// tell a column from its neighbour, or fewer lines could be read.
func (d Detection) longer(t tail, lines [][]byte, o parse.Options) Detection {
	text, found := t.text()
	if found == "" {
		return d
	}
	name := d.Format.Name + " with " + found
	if d.Format.Text+text == catalogueText("main") {
		name = "main"
	}
	format, err := parse.CompileAs(d.Format.Text+text, o, name, true)
	if err != nil {
		return d
	}
	if longer := judge(format, lines); d.asGood(longer) {
		return longer
	}
	return d
}

// asGood reports whether another format reads as many lines, but for one in a thousand.
func (d Detection) asGood(other Detection) bool { return other.Read*1000 >= d.Read*999 }

// hasQuotes reports whether most lines have a quoted field behind the first n.
func hasQuotes(lines [][]byte, n int) bool {
	return parse.Mostly(lines, func(line []byte) bool {
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

// readTail takes the columns from the lines that have as many as most do.
func readTail(base *parse.Format, lines [][]byte) tail {
	n := len(fieldsOf(base.Text))
	var r parse.Record
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
		if variable == "" { // to be read over; nginx's variables of upstreams may hold lists
			name := "$field%d"
			if c.list {
				name = "$upstream_field%d"
			}
			fmt.Fprintf(&b, " "+c.shape, fmt.Sprintf(name, c.place))
			continue
		}
		fmt.Fprintf(&b, " "+c.shape, variable)
		text = b.String()
		names = append(names, variable)
	}
	return text, strings.Join(names, ", ")
}
