package imports

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/limit"
)

// Varnish: vsthrottle.is_denied(key, limit, period[, block]) of a VCL refuses where its condition comes to it. Calls are
// asked in the order of their lines, and those behind a refusal are not.
// Source: varnish/varnish-modules 0.20.0, src/vmod_vsthrottle.vcc (arguments, buckets that share all of them),
// vmod_vsthrottle.c; varnish-cache 7.1, doc/sphinx/reference/vcl.rst, vcl-var.rst (operators, acls, req.url has the query).

var varnishFormat = format{
	name: "varnish", read: readVarnish,
	is: func(text []byte) bool { return vclHead().Match(text) },
}

var (
	vclHead = lazy.Regexp(`(?m)^[ \t]*(vcl 4\.\d;|sub vcl_\w+|import vsthrottle)|\bvsthrottle\.is_denied\(`)
	vclWord = lazy.Regexp(`(?s)#[^\n]*|//[^\n]*|/\*.*?\*/|\{".*?"\}|"""[^"]*"""|"[^"\n]*"|&&|\|\||[!=<>]=|!~|\n|[^\s(){};,!~+"&|=]+|\S`)
)

// A vclReader goes through the words of a VCL.
type vclReader struct {
	*Import
	file          string
	words         []string
	lines         []int
	at            int
	acls          map[string][]string
	subs          map[string]int // where the words of a sub begin
	policy        Policy
	calls         map[string]string // arguments, and where they were
	read          map[int]bool      // calls, by where they stand
	made          map[string]string // headers that were set or unset on the way, and where
	depth, called int               // blocks, and subs so far
	denied        string            // the place of a call whose refusal the words at hand follow
}

// A configuration of ten lines can come to a call more often than can be read, under longer and longer conditions.
const mostCalls, mostWritten = 1000, 64 << 10

const isDenied = "vsthrottle.is_denied"

// otherThrottle fits calls of other modules that limit.
var otherThrottle = lazy.Regexp(`^\w+\.\w*(is_denied|throttle|rate|limit)\w*$`)

func readVarnish(i *Import, file string, text []byte) error {
	r := &vclReader{
		Import: i, file: file, acls: map[string][]string{}, subs: map[string]int{}, calls: map[string]string{},
		read: map[int]bool{}, made: map[string]string{}, policy: Policy{Name: "varnish", Combine: "in-turn"},
	}
	line := 1
	for _, word := range vclWord().FindAllString(string(text), -1) {
		if word != "\n" && word[0] != '#' && !strings.HasPrefix(word, "//") && !strings.HasPrefix(word, "/*") {
			r.words, r.lines = append(r.words, word), append(r.lines, line)
		}
		line += strings.Count(word, "\n")
	}
	for n := range r.words[:max(0, len(r.words)-2)] {
		switch r.words[n] {
		case "sub":
			r.subs[r.words[n+1]] = n + 3
		case "acl":
			r.acl(n + 1)
		}
	}
	if at, ok := r.subs["vcl_recv"]; ok {
		r.at = at
		r.block(Set{})
	}
	for n, word := range r.words {
		switch {
		case word == "include" && n+1 < len(r.words) && strings.HasPrefix(r.words[n+1], `"`):
			r.lose(r.place(n), "include %s is not read, with what limits it has", r.words[n+1])
		case word == isDenied && !r.read[n]:
			r.lose(r.place(n), "%s is not read here: only what vcl_recv comes to", isDenied)
		case word != isDenied && strings.HasPrefix(word, "vsthrottle.") && word != "vsthrottle.remaining" && word != "vsthrottle.blocked":
			r.lose(r.place(n), "%s is not read", word)
		case word != isDenied && otherThrottle().MatchString(word) && slices.Equal(r.words[n+1:min(n+2, len(r.words))], []string{"("}):
			r.lose(r.place(n), "%s is of a module that is not read", word)
		}
	}
	i.Policies = append(i.Policies, r.policy)
	return nil
}

func (r *vclReader) place(at int) string {
	return fmt.Sprintf("%s:%d", r.file, r.lines[max(0, min(at, len(r.lines)-1))])
}

func (r *vclReader) next() string {
	if r.at++; r.at > len(r.words) {
		return ""
	}
	return r.words[r.at-1]
}

// acl takes down the networks of a list: "10.0.0.0"/8;
func (r *vclReader) acl(at int) {
	name := r.words[at]
	r.acls[name] = []string{}
	for _, entry := range strings.Split(strings.Join(r.words[at+2:r.end(at+2)], ""), ";") {
		prefix, err := parseNetwork(strings.ReplaceAll(entry, `"`, ""))
		if err != nil && entry != "" {
			delete(r.acls, name) // a host, or an exception
			return
		} else if entry != "" {
			r.acls[name] = append(r.acls[name], networkText(prefix))
		}
	}
}

// end returns where the block ends whose words begin at a place.
func (r *vclReader) end(at int) int {
	for open := 1; at < len(r.words); at++ {
		switch r.words[at] {
		case "{":
			open++
		case "}":
			if open--; open == 0 {
				return at
			}
		}
	}
	return at
}

// block reads statements up to the brace, for some requests. What returns leaves none of them.
func (r *vclReader) block(set Set) (left Set) {
	if r.depth++; r.depth > mostNested {
		r.at = r.end(r.at) + 1
	}
	defer func() { r.depth-- }()
	for {
		switch word := r.next(); word {
		case "", "}":
			return set
		case "if":
			place := r.at
			after := r.branches(set)
			if after.size() > mostWritten {
				r.lose(r.place(place), "the conditions up to here are too long: this one is taken to fit")
				after = set
			}
			set = after
		case "call":
			set = r.call(set)
		case "return":
			set = none
		case "set", "unset":
			if what := r.next(); what == "req.url" || what == "req.method" {
				r.lose(r.place(r.at), "set %s is not read: conditions below are judged on what is logged", what)
			} else if strings.HasPrefix(what, "req.http.") && !r.plainHost(what) {
				r.made[strings.ToLower(what)] = r.place(r.at)
			}
		case "{":
			r.at = r.end(r.at) + 1
		default:
			if before := r.words[r.at-2]; (before == ";" || before == "{" || before == "}") && !vclStatement().MatchString(word) {
				r.tell(r.place(r.at-1), "%s is a statement that is not known: it is taken to limit nothing", word)
			}
		}
	}
}

// plainHost reports whether a set of a variable takes from the host what logs do not have either: its port and its case.
func (r *vclReader) plainHost(what string) bool {
	value := strings.Join(r.words[min(r.at, len(r.words)):min(r.at+6, len(r.words))], "")
	return strings.EqualFold(what, "req.http.host") && hostForm().MatchString(value)
}

var hostForm = lazy.Regexp(`(?i)^=(std\.tolower\(|regsub(all)?\(req\.http\.host,":)`)

// vclStatement fits statements that limit nothing, and functions of modules that limit nothing.
var vclStatement = lazy.Regexp(`^(unset|remove|ban|hash_data|synthetic|rollback|error|esi|purge|new|[;{}]|C$|` +
	`(std|cookie|cookieplus|header|headerplus|urlcode|urlplus|querystring|xkey|bodyaccess|var|crypto|digest|saintmode|vha|purge|geoip|curl|jwt)\..*)$`)

// call reads a sub where it is called.
func (r *vclReader) call(set Set) (left Set) {
	name, back := r.peek(), r.at+2
	at, ok := r.subs[name]
	switch {
	case !ok:
	case r.called == mostCalls || r.depth > mostNested:
		r.lose(r.place(r.at), "call %s is not read: calls go too deep, or are too many", name)
	default:
		r.called++
		r.at = at
		set = r.block(set)
	}
	r.at = back
	return set
}

// branches reads if, and what stands behind else.
func (r *vclReader) branches(set Set) (left Set) {
	left, rest := none, set
	for {
		r.next() // the parenthesis
		c := &vclCondition{vclReader: r, at: r.at}
		l := &logic{words: r.words[min(r.at, len(r.words)):]}
		l.words = l.group()
		text := strings.Join(l.words, " ")
		c.logic, l.term = l, c.term
		r.at += len(l.words) + 1
		fits := l.either()
		for _, at := range c.calls {
			r.throttle(at, rest.and(fits))
		}
		r.next() // the brace
		body, denied := r.at, r.denied
		if len(c.calls) > 0 && !strings.Contains(text, "! "+isDenied) {
			r.denied = r.place(c.calls[0])
		}
		after := r.block(rest.and(fits))
		r.denied = denied
		inner := r.words[min(body, len(r.words)):min(r.at, len(r.words))]
		r.told(c, text, inner, after.never)
		if len(c.calls) == 0 { // what a limit refuses is no matter of conditions
			left = union(left, after)
			if l.unknown == 0 {
				rest = rest.and(fits.except())
			}
		}
		word := r.peek()
		if word == "else" && r.at+1 < len(r.words) && r.words[r.at+1] == "if" {
			r.next()
			word = "elsif"
		}
		switch word {
		case "elsif", "elseif", "elif":
			r.next()
		case "else":
			r.at += 2
			return union(left, r.block(rest))
		default:
			return union(left, rest)
		}
	}
}

// told tells what of a condition is not judged, where limits depend on it.
func (r *vclReader) told(c *vclCondition, text string, inner []string, returns bool) {
	place := r.place(c.at)
	behind := slices.Contains(r.words[min(r.at, len(r.words)):], isDenied)
	limits := len(c.calls) > 0 || slices.Contains(inner, isDenied)
	for _, term := range c.lost {
		switch at := r.made[term]; {
		case !limits && !(returns && behind):
		case at != "":
			r.lose(at, "what %s becomes here is not read: the condition at %s judges by what is logged", term, place)
		case limits:
			r.lose(place, "no condition says %s: it is taken to fit", term)
		default:
			r.lose(place, "no condition says %s: what it sends elsewhere is taken to come to the limits below", term)
		}
	}
	switch {
	case len(c.calls) == 0:
	case strings.Contains(text, "||") && len(c.calls) < 2, strings.Contains(text, "! "+isDenied):
		r.lose(place, "%s in a condition with || or ! is judged on all requests that may come to it", isDenied)
	case !slices.Contains(inner, "return") && !slices.Contains(inner, "error"):
		r.lose(place, "%s does not refuse here, as no return follows: it is judged as if it did", isDenied)
	}
}

// peek returns the next word without taking it.
func (r *vclReader) peek() string {
	if r.at >= len(r.words) {
		return ""
	}
	return r.words[r.at]
}

// A vclCondition is that of an if.
type vclCondition struct {
	*vclReader
	*logic
	at    int
	calls []int    // of vsthrottle, by where they stand
	lost  []string // terms that no condition says, and headers that were changed
}

// term returns the requests that a comparison fits. A call of vsthrottle fits all, as its limit decides.
func (c *vclCondition) term(l *logic) (Set, bool) {
	at := c.vclReader.at - 1 - len(l.words)
	name := l.next()
	if l.take("(") {
		inner := l.group()
		if name == isDenied {
			c.calls = append(c.calls, at)
			return Set{}, true
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
	return set.unless(known && strings.HasPrefix(op, "!")), known
}

// compared returns the requests whose variable is a value, or fits it.
func (c *vclCondition) compared(name, op, value string) (Set, bool) {
	how := map[string]string{"~": "reg", "=": "", "==": ""}
	kind, known := how[op]
	header, isHeader := strings.CutPrefix(strings.ToLower(name), "req.http.")
	switch {
	case name == "client.ip" && kind == "reg" && c.acls[value] != nil:
		return within("network", c.acls[value]...), true
	case isHeader && op == "":
		key, err := request.ParseKey("header:" + header)
		return within("without", key.String()).except(), err == nil
	case !known:
		return Set{}, false
	case name == "req.url":
		if op != "~" || strings.ContainsAny(value, "$?") {
			note := c.tell
			if strings.Contains(value, `\?`) { // which no path has
				note = c.lose
			}
			note(c.place(c.at), "req.url has the query, which paths here have not")
		}
		return textSet("regexp", kind, []string{value}, false)
	case name == "req.method" && kind == "":
		return within("method", value), true
	case name == "req.method" && methodsIn(value) != nil:
		return within("method", methodsIn(value)...), true
	case header == "host" && kind == "":
		return hostSet("", []string{value})
	case header == "user-agent":
		return textSet("agent", kind, []string{value}, false)
	case isHeader && kind == "":
		return within("with", "header:"+header+"="+value), true
	case isHeader && compiles(value):
		return within("with", "header:"+header+"~"+value), true
	}
	return Set{}, false
}

// throttle adds the limit of a call.
func (r *vclReader) throttle(at int, set Set) {
	l := &logic{words: r.words[at+2:]}
	args := []string{""}
	for _, word := range l.group() {
		if word == "," {
			args = append(args, "")
		} else if word != "+" {
			args[len(args)-1] += " " + word
		}
	}
	r.read[at] = true
	place := r.place(at)
	if r.denied != "" {
		r.lose(place, "this call is asked only of what that at %s refuses: it is left out", r.denied)
		return
	}
	text, ok := throttleText(args)
	if !ok {
		r.lose(place, "%s(%s) is not understood: it is left out", isDenied, strings.TrimSpace(strings.Join(args, ",")))
		return
	}
	if other, again := r.calls[strings.Join(args, ",")]; again && other != place {
		r.lose(place, "the call at %s counts in the same buckets there, and in its own here", other)
	}
	r.calls[strings.Join(args, ",")] = place
	var words []string
	for _, part := range strings.Fields(args[0]) {
		word := vclPart(part)
		if at := r.made[strings.ToLower(part)]; at != "" && word != "client" {
			r.lose(at, "what %s becomes here is not read: the limit at %s counts by what is logged", part, place)
		}
		switch {
		case strings.HasPrefix(part, `"`):
		case word == "":
			r.lose(place, "%s is nothing that limits here count by: it is left out of the key", part)
		default:
			words = append(words, word)
		}
	}
	keys := present(set, words, nil, true)
	if n := len(keys) - 1; n >= 0 && keys[n].by == request.BySite && len(words) == 1 && len(strings.Fields(args[0])) == 1 { // the key is no text
		r.lose(place, "requests without %s are all refused there, and by no limit here", strings.TrimSpace(args[0]))
		keys = keys[:n]
	}
	r.policy.add(text, fmt.Sprintf("%s %s by %s", place, isDenied, strings.TrimSpace(args[0])), keys...)
}

// throttleText returns the limit that arguments make.
func throttleText(args []string) (text string, ok bool) {
	if len(args) < 3 || len(args) > 4 {
		return "", false
	}
	period, err := limit.ParsePeriod(strings.TrimSpace(args[2]))
	text = fmt.Sprintf("vsthrottle:%s/%s", strings.TrimSpace(args[1]), limit.FormatPeriod(period))
	if len(args) == 4 {
		block, bad := limit.ParsePeriod(strings.TrimSpace(args[3]))
		if bad != nil {
			return "", strings.TrimSpace(args[3]) == "0s" && err == nil
		}
		text += ",cooldown=" + limit.FormatPeriod(block)
	}
	return text, err == nil
}

// vclPart returns what limits count by for a variable; "" if nothing.
func vclPart(name string) string {
	header, isHeader := strings.CutPrefix(strings.ToLower(name), "req.http.")
	switch {
	case name == "client.ip" || name == "client.identity" || header == "x-forwarded-for":
		return "client"
	case name == "req.url":
		return "path"
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
