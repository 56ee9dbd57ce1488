// Package haproxycfg reads the language of HAProxy: a text comes in, and sections of rules go out, with the words, the
// conditions and the tests of a rule, and what a stick-table says.
// Source: haproxy/haproxy 50872da, doc/configuration.txt, quoting and escaping, ACL basics, stick-table.
package haproxycfg

import (
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
)

// A Rule is a line.
type Rule struct {
	Words []string // one at least
	Line  int      // from 1
}

// A Section is a frontend, a backend or another part of a configuration.
type Section struct {
	Kind, Name string
	Line       int // from 1; 0 of rules before any section
	Rules      []Rule
	Base       *Section // the defaults that it takes; nil: none
}

// kinds are the words that begin a section.
var kinds = strings.Fields("frontend backend listen defaults global userlist peers resolvers cache program mailers ring http-errors " +
	"log-forward log-profile fcgi-app crt-store crt-list traces acme")

// Parse takes the sections of a text apart. Rules before any section are those of a frontend.
func Parse(text string) (all []*Section) {
	var last *Section // of defaults
	named := map[string]*Section{}
	for n, line := range strings.Split(text, "\n") {
		words := Words(line)
		switch {
		case len(words) == 0 || words[0] == "":
			continue
		case slices.Contains(kinds, words[0]):
			s := &Section{Kind: words[0], Name: append(words, "")[1], Line: n + 1}
			if at := slices.Index(words, "from"); at > 0 && at+1 < len(words) {
				s.Base = named[words[at+1]]
			} else if s.Kind != "defaults" {
				s.Base = last
			}
			if s.Kind == "defaults" {
				last, named[s.Name] = s, s
			}
			all = append(all, s)
			continue
		case all == nil:
			all = append(all, &Section{Kind: "frontend"})
		}
		last := all[len(all)-1]
		last.Rules = append(last.Rules, Rule{words, n + 1})
	}
	return all
}

// Words returns the words of a line, without its comment.
func Words(line string) (words []string) {
	var word strings.Builder
	begun, escaped, quote := false, false, rune(0)
	flush := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, begun = c, true
		case c == '#':
			flush()
			return words
		case c == ' ' || c == '\t' || c == '\r':
			flush()
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	flush()
	return words
}

// Has reports whether the words of a rule are some.
func (s *Section) Has(is func(words []string) bool) bool {
	return slices.ContainsFunc(s.Rules, func(r Rule) bool { return is(r.Words) })
}

// Setting returns the words of the rule that has the last say among those that begin with one of some words, in a section
// or else in the defaults that it takes; two empty ones: there is none.
func (s *Section) Setting(some ...string) []string {
	for ; s != nil; s = s.Base {
		for _, r := range slices.Backward(s.Rules) {
			if slices.Contains(some, r.Words[0]) {
				return append(slices.Clip(r.Words), "")
			}
		}
	}
	return []string{"", ""}
}

// Turn says when a rule is asked: those of a connection, of a session and of content go before those of a request.
func (r Rule) Turn() int {
	if r.Words[0] == "tcp-request" && len(r.Words) > 1 {
		return slices.Index([]string{"connection", "session", "content"}, r.Words[1])
	}
	return OfRequests
}

// OfRequests is the turn of rules that are asked once a request was counted.
const OfRequests = 3

// Judging are the words of a rule, as if they stood behind http-request; nil: it judges no requests.
func (r Rule) Judging() []string {
	words := r.Words
	switch {
	case words[0] == "http-request" && len(words) > 1:
		return words
	case words[0] == "tcp-request" && len(words) > 3 && slices.Contains([]string{"connection", "content", "session"}, words[1]):
		if words = append([]string{"http-request"}, words[2:]...); words[1] == "reject" {
			words[1] = "deny"
		}
		return words
	}
	return nil
}

// A Term is an acl that a condition asks for, by its name or between braces.
type Term struct {
	Name  string   // "": it has none
	Words []string // of one between braces
	Not   bool
}

// String returns the term as a condition has it.
func (t Term) String() string {
	text := t.Name
	if text == "" {
		text = "{ " + strings.Join(t.Words, " ") + " }"
	}
	if t.Not {
		return "!" + text
	}
	return text
}

// Condition takes apart what stands behind if or unless: one of the groups must fit, with all its terms. ok is false
// if there is no condition.
func Condition(words []string) (groups [][]Term, text string, unless, ok bool) {
	at := slices.IndexFunc(words, func(w string) bool { return w == "if" || w == "unless" })
	if at < 0 {
		return nil, "", false, false
	}
	rest, group := words[at+1:], []Term(nil)
	for n := 0; n < len(rest); n++ {
		if rest[n] == "||" || rest[n] == "or" {
			groups, group = append(groups, group), nil
			continue
		}
		name := strings.TrimLeft(rest[n], "!")
		t := Term{Not: (len(rest[n])-len(name))%2 == 1}
		if name == "" && n+1 < len(rest) {
			n++
			name = rest[n]
		}
		if t.Name = name; name == "{" {
			end := slices.Index(rest[n:], "}")
			if end < 0 {
				end = len(rest) - n
			}
			t.Name, t.Words = "", rest[n+1:n+end]
			n += end
		}
		group = append(group, t)
	}
	return append(groups, group), strings.Join(rest, " "), words[at] == "unless", true
}

// A Test is what stands behind the sample of an acl.
type Test struct {
	How    string // what -m says; "": nothing
	Fold   bool   // -i
	Values []string
}

// ParseTest reads flags and values. lines returns those of a file of values.
func ParseTest(words []string, lines func(file string) ([]string, error)) (t Test, known bool) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		switch {
		case words[0] == "-i":
			t.Fold = true
		case words[0] == "-m" && len(words) > 1:
			t.How, words = words[1], words[1:]
		case words[0] == "-f" && len(words) > 1:
			values, err := lines(words[1])
			if err != nil {
				return t, false
			}
			words = slices.Concat(words[1:], values)
		case words[0] == "--":
		default:
			return t, false
		}
		words = words[1:]
	}
	t.Values = words
	return t, true
}

// A Table is what a stick-table says.
type Table struct {
	Type   string
	Length int               // in bytes, to which texts are cut; 0: they are none
	Expire string            // after which time without a request it forgets a client; "": it does not say
	Rates  map[string]string // what it stores, with the period if it is a rate
}

var storedRate = lazy.Regexp(`^(?:([a-z0-9_]+)\((\w+)\)|(conn_cur))$`)

// Read takes in the words of a stick-table, and returns those that it does not know.
func (t *Table) Read(words []string) (unknown []string) {
	t.Rates = map[string]string{}
	for n, word := range words[1:] {
		if word == "store" {
			t.store(words[n+1:])
		}
	}
	length := 32
	for n := 1; n < len(words); n++ {
		word, value := words[n], append(words[n+1:], "")[0]
		switch n++; word {
		case "type":
			if t.Type = value; !slices.Contains([]string{"ip", "ipv6", "integer", "string", "binary"}, value) {
				unknown = append(unknown, "type "+value)
			}
		case "len":
			length, _ = strconv.Atoi(value)
		case "expire":
			t.Expire = Period(value)
		case "size", "store", "peers", "srvkey", "write-to", "brates-factor":
		case "nopurge", "recv-only":
			n--
		default:
			unknown = append(unknown, word)
			n--
		}
	}
	if t.Type == "string" || t.Type == "binary" {
		t.Length = length
	}
	return unknown
}

// store takes in what stands behind the word store.
func (t *Table) store(words []string) {
	if len(words) < 2 {
		return
	}
	for item := range strings.SplitSeq(words[1], ",") {
		if parts := storedRate().FindStringSubmatch(item); parts != nil {
			t.Rates[parts[1]+parts[3]] = parts[2]
		}
	}
}

// Period is a time with its unit, which is milliseconds where it has none.
func Period(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c > '9' }) {
		text += "ms"
	}
	return text
}
