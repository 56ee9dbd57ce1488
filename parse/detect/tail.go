package detect

import (
	"fmt"
	"strings"

	"shadow/limit"
	"shadow/parse"
)

// Many logs are combined with something behind the agent. What stands there is not declared anywhere, so a column is
// used only if all its values leave no doubt (column.go); everything else is read over.

// documented has the formats whose further fields are declared, and are none that is looked for: target:port_list.
var documented = map[string]bool{"alb": true, "elb": true, "s3": true}

// tailShare is the percentage of the readable lines that must have the same number of fields behind the agent for these
// to be looked at.
const tailShare = 90

// withTail is a detection with the columns behind the agent that are beyond doubt, if there are any; and with the
// name of a format without agents if there are none.
func (d *Detector) withTail(found Detection, lines [][]byte) (Detection, error) {
	found, err := d.withoutAgents(d.withoutReferers(found, lines), lines)
	if err != nil || !strings.Contains(found.Format.Text, "$") {
		return found, err
	}
	if found.Format.Name == "combined" {
		for _, name := range [...]string{"traefik", "ingress-nginx"} {
			strict, err := d.once("strict "+name, func() (*parse.Format, error) {
				return parse.CompileAs(catalogueText(name), d.choice.Options, name, false)
			})
			if err == nil && judge(strict, lines, found.outdoes).Lines > 0 {
				format, err := d.named(name)
				return judge(format, lines, nil), err
			}
		}
	}
	return d.longer(found, readTail(found.Format, lines), lines), nil
}

// withoutReferers takes what stands in the place of referers, if these are none, for the queries of targets or for
// agents.
func (d *Detector) withoutReferers(found Detection, lines [][]byte) Detection {
	text, name := found.Format.Text, found.Format.Name
	switch least := max(leastOthers, listsPerOther*found.referers, found.Read/leastShare); {
	case found.queries >= least:
		text, name = strings.Replace(text, "$http_referer", "$args", 1), name+" with $args"
		if found.queried == 0 {
			text = strings.Replace(text, `"$request"`, `"$request_method $uri $server_protocol"`, 1)
		}
	case found.alone >= least:
		text, name = strings.Replace(text, `"$http_referer" `, "", 1), name+" without referer"
	}
	if text == found.Format.Text || !strings.Contains(found.Format.Text, "$http_referer") {
		return found
	}
	format, err := d.once(name+"\n"+text, func() (*parse.Format, error) { return parse.CompileAs(text, d.choice.Options, name, true) })
	if err != nil {
		return found
	}
	if other := judge(format, lines, found.outdoes); other.Lines > 0 {
		return other
	}
	return found
}

// What shows that others stand in the place of referers: so many values at least, and one of so many lines. A few a
// stranger can send.
const (
	leastOthers = 3
	leastShare  = 10
)

// ofLighttpd takes Apache's formats for lighttpd's, which has the host in the place of the identity, if hosts stand there.
func (d *Detector) ofLighttpd(found Detection, lines [][]byte) Detection {
	if !strings.HasPrefix(found.Format.Text, "%h %l %u %t ") {
		return found
	}
	var hosts []string
	for _, line := range lines {
		if fields := strings.Fields(string(line[:min(len(line), maxTailLine)])); len(fields) > 1 {
			hosts = append(hosts, fields[1])
		}
	}
	if len(hosts) == 0 || meanings[meaningOf("host")].shows(hosts) == 0 {
		return found
	}
	text := strings.Replace(found.Format.Text, "%l", "%V", 1)
	format, err := d.once("lighttpd\n"+text, func() (*parse.Format, error) {
		return parse.CompileAs(text, d.choice.Options, "lighttpd", true)
	})
	if err != nil {
		return found
	}
	return judge(format, lines, nil)
}

// withoutAgents takes the shorter format where no line has a referer or an agent.
func (d *Detector) withoutAgents(found Detection, lines [][]byte) (Detection, error) {
	short := shorter[found.Format.Name]
	if short == "" || found.agents > 0 || hasQuotes(lines, len(fieldsOf(nil, catalogueText(short)))) {
		return found, nil
	}
	format, err := d.named(short)
	if err != nil {
		return found, err
	}
	return judge(format, lines, nil), nil
}

// longer takes the format with the columns of the tail that are known. It stays as it is where the compiler cannot
// tell a column from its neighbour, or fewer lines could be read.
func (d *Detector) longer(found Detection, t tail, lines [][]byte) Detection {
	text, columns := t.text()
	if columns == "" || documented[found.Format.Name] {
		return found
	}
	text = found.Format.Text + text
	name := found.Format.Name + " with " + columns
	if text == catalogueText("main") {
		name = "main"
	}
	format, err := d.once(name+"\n"+text, func() (*parse.Format, error) {
		return parse.CompileAs(text, d.choice.Options, name, true)
	})
	if err != nil {
		return found
	}
	if longer := judge(format, lines, found.outdoes); longer.Lines > 0 {
		return longer
	}
	return found
}

// outdoes reports whether another format, which has so many lines left, cannot read as many any more, but for one in a
// thousand.
func (d *Detection) outdoes(other *Detection, left int) bool {
	return (other.Read+left)*1000 < d.Read*999
}

// hasQuotes reports whether most lines have a quoted field behind the first n.
func hasQuotes(lines [][]byte, n int) bool {
	return parse.Mostly(lines, func(line []byte) bool {
		fields := fieldsOf(nil, string(line[:min(len(line), maxTailLine)]))
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

// readTail takes the columns from the lines that have as many as most do. It gives up when too many lines have none.
func readTail(base *parse.Format, lines [][]byte) tail {
	n := len(fieldsOf(nil, base.Text))
	var r parse.Record
	p := base.NewParser()
	byCount := map[int]*tail{}
	read, without := 0, 0
	var work []byte // because a parser may undo escapes in a line
	var fields []string
	for _, line := range lines {
		if work = append(work[:0], line...); len(line) > maxTailLine || !p.Parse(work, &r).OK() {
			continue
		}
		read++
		fields = fieldsOf(fields[:0], string(line))
		if len(fields) <= n {
			if without++; without*100 > (100-tailShare)*len(lines) {
				return tail{}
			}
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
