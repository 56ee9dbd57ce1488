package imports

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
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
	policy        neutral.Policy
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
		read: map[int]bool{}, made: map[string]string{}, policy: neutral.Policy{Name: "varnish", Combine: "in-turn"},
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
		r.block(neutral.Set{})
	}
	for n, word := range r.words {
		switch {
		case word == "include" && n+1 < len(r.words) && strings.HasPrefix(r.words[n+1], `"`):
			r.Lose(r.place(n), "include %s is not read, with what limits it has", r.words[n+1])
		case word == isDenied && !r.read[n]:
			r.Lose(r.place(n), "%s is not read here: only what vcl_recv comes to", isDenied)
		case word != isDenied && strings.HasPrefix(word, "vsthrottle.") && word != "vsthrottle.remaining" && word != "vsthrottle.blocked":
			r.Lose(r.place(n), "%s is not read", word)
		case word != isDenied && otherThrottle().MatchString(word) && slices.Equal(r.words[n+1:min(n+2, len(r.words))], []string{"("}):
			r.Lose(r.place(n), "%s is of a module that is not read", word)
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
		prefix, err := neutral.ParseNetwork(strings.ReplaceAll(entry, `"`, ""))
		if err != nil && entry != "" {
			delete(r.acls, name) // a host, or an exception
			return
		} else if entry != "" {
			r.acls[name] = append(r.acls[name], neutral.NetworkText(prefix))
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
func (r *vclReader) block(set neutral.Set) (left neutral.Set) {
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
			if after.Size() > mostWritten {
				r.Lose(r.place(place), "the conditions up to here are too long: this one is taken to fit")
				after = set
			}
			set = after
		case "call":
			set = r.call(set)
		case "return":
			set = neutral.None
		case "set", "unset":
			if what := r.next(); what == "req.url" || what == "req.method" {
				r.Lose(r.place(r.at), "set %s is not read: conditions below are judged on what is logged", what)
			} else if strings.HasPrefix(what, "req.http.") && !r.plainHost(what) {
				r.made[strings.ToLower(what)] = r.place(r.at)
			}
		case "{":
			r.at = r.end(r.at) + 1
		default:
			if before := r.words[r.at-2]; (before == ";" || before == "{" || before == "}") && !vclStatement().MatchString(word) {
				r.Tell(r.place(r.at-1), "%s is a statement that is not known: it is taken to limit nothing", word)
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
func (r *vclReader) call(set neutral.Set) (left neutral.Set) {
	name, back := r.peek(), r.at+2
	at, ok := r.subs[name]
	switch {
	case !ok:
	case r.called == mostCalls || r.depth > mostNested:
		r.Lose(r.place(r.at), "call %s is not read: calls go too deep, or are too many", name)
	default:
		r.called++
		r.at = at
		set = r.block(set)
	}
	r.at = back
	return set
}

// branches reads if, and what stands behind else.
func (r *vclReader) branches(set neutral.Set) (left neutral.Set) {
	left, rest := neutral.None, set
	for {
		r.next() // the parenthesis
		c := &vclCondition{vclReader: r, at: r.at}
		l := &logic{words: r.words[min(r.at, len(r.words)):]}
		l.words = l.group()
		text := strings.Join(l.words, " ")
		c.logic, l.term = l, c.term
		r.at += len(l.words) + 1
		fits := l.either()
		negated := strings.Contains(text, "! "+isDenied) || fits.Never && strings.Contains(text, "!")
		for _, at := range c.calls {
			if r.read[at] = true; negated {
				r.Lose(r.place(at), "%s behind ! is not read: its limit is left out", isDenied)
				continue
			}
			r.throttle(at, rest.And(fits))
		}
		r.next() // the brace
		body, denied := r.at, r.denied
		if len(c.calls) > 0 && !negated {
			r.denied = r.place(c.calls[0])
		}
		after := r.block(rest.And(fits))
		r.denied = denied
		inner := r.words[min(body, len(r.words)):min(r.at, len(r.words))]
		r.told(c, text, inner, after.Never, negated)
		if len(c.calls) == 0 { // what a limit refuses is no matter of conditions
			left = neutral.Union(left, after)
			if l.unknown == 0 {
				rest = rest.And(fits.Except())
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
			return neutral.Union(left, r.block(rest))
		default:
			return neutral.Union(left, rest)
		}
	}
}

// told tells what of a condition is not judged, where limits depend on it.
func (r *vclReader) told(c *vclCondition, text string, inner []string, returns, negated bool) {
	place := r.place(c.at)
	behind := slices.Contains(r.words[min(r.at, len(r.words)):], isDenied)
	limits := len(c.calls) > 0 || slices.Contains(inner, isDenied)
	for _, term := range c.lost {
		switch at := r.made[term]; {
		case !limits && !(returns && behind):
		case at != "":
			r.Lose(at, "what %s becomes here is not read: the condition at %s judges by what is logged", term, place)
		case limits:
			r.Lose(place, "no condition says %s: it is taken to fit", term)
		default:
			r.Lose(place, "no condition says %s: what it sends elsewhere is taken to come to the limits below", term)
		}
	}
	switch {
	case len(c.calls) == 0 || negated:
	case strings.Contains(text, "||") && len(c.calls) < 2:
		r.Lose(place, "%s in a condition with || is judged on all requests that may come to it", isDenied)
	case !slices.Contains(inner, "return") && !slices.Contains(inner, "error"):
		r.Lose(place, "%s does not refuse here, as no return follows: it is judged as if it did", isDenied)
	}
}

// peek returns the next word without taking it.
func (r *vclReader) peek() string {
	if r.at >= len(r.words) {
		return ""
	}
	return r.words[r.at]
}

// throttle adds the limit of a call.
func (r *vclReader) throttle(at int, set neutral.Set) {
	l := &logic{words: r.words[at+2:]}
	args := []string{""}
	for _, word := range l.group() {
		if word == "," {
			args = append(args, "")
		} else if word != "+" {
			args[len(args)-1] += " " + word
		}
	}
	place := r.place(at)
	if r.denied != "" {
		r.Lose(place, "this call is asked only of what that at %s refuses: it is left out", r.denied)
		return
	}
	text, ok := throttleText(args)
	if !ok {
		r.Lose(place, "%s(%s) is not understood: it is left out", isDenied, strings.TrimSpace(strings.Join(args, ",")))
		return
	}
	if other, again := r.calls[strings.Join(args, ",")]; again && other != place {
		r.Lose(place, "the call at %s counts in the same buckets there, and in its own here", other)
	}
	r.calls[strings.Join(args, ",")] = place
	var words []string
	for _, part := range strings.Fields(args[0]) {
		word := vclPart(part)
		if at := r.made[strings.ToLower(part)]; at != "" && word != "client" {
			r.Lose(at, "what %s becomes here is not read: the limit at %s counts by what is logged", part, place)
		}
		switch {
		case strings.HasPrefix(part, `"`):
		case word == "":
			r.Lose(place, "%s is nothing that limits here count by: it is left out of the key", part)
		default:
			words = append(words, word)
		}
	}
	keys := neutral.Present(set, words, nil, true)
	if n := len(keys) - 1; n >= 0 && keys[n].By == request.BySite && len(words) == 1 && len(strings.Fields(args[0])) == 1 { // the key is no text
		r.Lose(place, "requests without %s are all refused there, and by no limit here", strings.TrimSpace(args[0]))
		keys = keys[:n]
	}
	r.policy.Add(text, fmt.Sprintf("%s %s by %s", place, isDenied, strings.TrimSpace(args[0])), keys...)
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
