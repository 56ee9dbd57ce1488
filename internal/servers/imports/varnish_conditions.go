package imports

import (
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
)

// A vclCondition is that of an if.
type vclCondition struct {
	*vclReader
	*logic
	at    int
	calls []int    // of vsthrottle, by where they stand
	lost  []string // terms that no condition says, and headers that were changed
}

// term returns the requests that a comparison fits. A call of vsthrottle fits all, as its limit decides.
func (c *vclCondition) term(l *logic) (neutral.Set, bool) {
	at := c.vclReader.at - 1 - len(l.words)
	name := l.next()
	if l.take("(") {
		inner := l.group()
		if name == isDenied {
			c.calls = append(c.calls, at)
			return neutral.Set{}, true
		}
		name += "(" + strings.Join(inner, " ") + ")"
	}
	op, value := l.peek(), ""
	if slices.Contains([]string{"~", "!~", "==", "!=", "<", ">", "<=", ">="}, op) {
		l.next()
		for value = l.next(); l.peek() == "+"; { // a text in parts
			l.next()
			value += l.next()
		}
	} else {
		op = ""
	}
	if header := strings.ToLower(name); c.made[header] != "" {
		c.lost = append(c.lost, header)
	}
	set, known := c.compared(name, strings.TrimLeft(op, "!"), strings.Trim(strings.ReplaceAll(value, `""`, ""), `"{}`))
	if !known {
		c.lost = append(c.lost, strings.TrimSpace(name+" "+op+" "+value))
	}
	return set.Unless(known && strings.HasPrefix(op, "!")), known
}

// compared returns the requests whose variable is a value, or fits it.
func (c *vclCondition) compared(name, op, value string) (neutral.Set, bool) {
	how := map[string]string{"~": "reg", "=": "", "==": ""}
	kind, known := how[op]
	header, isHeader := strings.CutPrefix(strings.ToLower(name), "req.http.")
	switch {
	case name == "client.ip" && kind == "reg" && c.acls[value] != nil:
		return neutral.Within("network", c.acls[value]...), true
	case isHeader && op == "":
		key, err := request.ParseKey("header:" + header)
		return neutral.Within("without", key.String()).Except(), err == nil
	case !known:
		return neutral.Set{}, false
	case name == "req.url":
		return neutral.TargetSet(kind, value, false)
	case name == "req.method" && kind == "":
		return neutral.Within("method", value), true
	case name == "req.method" && neutral.MethodsIn(value) != nil:
		return neutral.Within("method", neutral.MethodsIn(value)...), true
	case header == "host" && kind == "":
		return neutral.HostSet("", []string{value})
	case header == "user-agent":
		return neutral.TextSet("agent", kind, []string{value}, false)
	case isHeader && kind == "":
		return neutral.Within("with", "header:"+header+"="+value), true
	case isHeader && neutral.Compiles(value):
		return neutral.Within("with", "header:"+header+"~"+value), true
	}
	return neutral.Set{}, false
}

// vclPart returns what limits count by for a variable; "" if nothing.
func vclPart(name string) string {
	header, isHeader := strings.CutPrefix(strings.ToLower(name), "req.http.")
	switch {
	case name == "client.ip" || name == "client.identity" || header == "x-forwarded-for":
		return "client"
	case name == "req.url":
		return neutral.WholeTarget
	case header == "host":
		return "host"
	case header == "user-agent":
		return "agent"
	case isHeader:
		key, err := request.ParseKey("header:" + header)
		if err == nil {
			return key.String()
		}
	}
	return ""
}
