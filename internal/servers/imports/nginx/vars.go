package nginx

import (
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/servers/imports/neutral"
	"shadow/parse/nginxconf"
)

// What a variable is depends on the request: a map or geo gives it one of several texts. So a key falls into cases, each
// of some requests, in which it is made of the same parts of a request. A case that makes no text is not limited.

// A piece is a text, or a variable that nginx has itself.
type piece struct {
	text     string
	variable string
	moved    *nginxconf.Directive // what made the text, a path
}

// A valueCase is what a text is for some requests.
type valueCase struct {
	set    neutral.Set
	pieces []piece
}

var variablePattern = lazy.Regexp(`\$(\w+|\{\w+\})`)

// cases returns the cases of a text with variables.
func (r *reader) cases(text string, d *nginxconf.Directive) []valueCase {
	all := []valueCase{{}}
	extend := func(more []valueCase) {
		var longer []valueCase
		for _, a := range all {
			for _, b := range more {
				if set := a.set.And(b.set); !set.Never {
					longer = append(longer, valueCase{set, slices.Concat(a.pieces, b.pieces)})
				}
			}
		}
		all = longer
	}
	literal := func(text string) {
		if text != "" {
			extend([]valueCase{{pieces: []piece{{text: text}}}})
		}
	}
	from := 0
	for _, at := range variablePattern().FindAllStringIndex(text, -1) {
		literal(text[from:at[0]])
		extend(r.variable(strings.Trim(text[at[0]:at[1]], "${}"), d))
		from = at[1]
	}
	literal(text[from:])
	return all
}

// variable are the cases of a variable that is used at a place.
func (r *reader) variable(name string, d *nginxconf.Directive) []valueCase {
	if known, ok := r.known[name]; ok {
		if known == nil {
			r.Lose(d.Place(), "$%s is made of itself", name)
		}
		return known
	}
	made := r.variables[name]
	value, isSet := r.at.vars[name]
	switch {
	case name == "server_name":
		return r.cases(r.server, d)
	case value.unknown != nil:
		r.Lose(value.unknown.Place(), "%s $%s is not understood: it is taken for a field of the log", value.unknown.Name, name)
	case isSet:
		return r.cases(value.text, d)
	case made == nil && r.set[name] != nil:
		return []valueCase{{}}
	case (name == "uri" || name == "document_uri") && r.at.path != "":
		if strings.HasSuffix(r.at.path, "$") {
			r.Lose(r.at.by.Place(), "%s %s changes $uri, which keys and conditions take here as it was asked for", r.at.by.Name,
				strings.Join(r.at.by.Args, " "))
			break
		}
		return []valueCase{{pieces: []piece{{text: r.at.path, moved: r.at.by}}}}
	}
	if text, early := tooEarly(name); made == nil && early {
		r.Tell(d.Place(), "$%s is not known yet where limits are asked: it is %q there", name, text)
		return []valueCase{{pieces: slices.DeleteFunc([]piece{{text: text}}, func(p piece) bool { return p.text == "" })}}
	}
	if made == nil {
		r.tellField(name, d)
		return []valueCase{{pieces: []piece{{variable: name}}}}
	}
	r.known[name] = nil
	if made.Name == "geo" {
		r.known[name] = r.geo(made)
	} else {
		r.known[name] = r.mapped(made)
	}
	return r.known[name]
}

// tooEarly returns what nginx has for a variable whose value only the answer makes: limits are asked before.
func tooEarly(variable string) (text string, ok bool) {
	switch variable {
	case "status":
		return "000", true
	case "bytes_sent", "body_bytes_sent":
		return "0", true
	case "request_time":
		return "0.000", true
	case "request_completion", "limit_req_status", "limit_conn_status":
		return "", true
	}
	return "", strings.HasPrefix(variable, "upstream_") || strings.HasPrefix(variable, "sent_http_") || strings.HasPrefix(variable, "sent_trailer_")
}

// tellField tells of a variable that is taken for a field of the log where no log format has it.
func (r *reader) tellField(name string, d *nginxconf.Directive) {
	part, ok := PartOf(name)
	if !ok || !strings.HasPrefix(part, "field:") || part == neutral.WholeTarget ||
		slices.ContainsFunc(variablePattern().FindAllString(strings.Join(r.Logged, " "), -1), func(v string) bool { return strings.Trim(v, "${}") == name }) {
		return
	}
	r.Lose(d.Place(), "$%s is taken for a field of the log, and no log_format here has it", name)
}

// on has variables be what they are on a way.
func (r *reader) on(w way) *reader {
	clear(r.known)
	r.at = w
	return r
}

// path returns the path of a file that a configuration names.
func (r *reader) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.base, name)
}

// mapped are the cases of what a map makes.
func (r *reader) mapped(d *nginxconf.Directive) (all []valueCase) {
	entries, fallback, hostnames := r.entries(d, d.Block)
	if len(d.Args) != 2 {
		r.Lose(d.Place(), "map: want two variables")
		return nil
	}
	for _, source := range r.cases(d.Args[0], d) {
		text, fixed := fixedText(source.pieces)
		switch {
		case fixed:
			all = append(all, in(source.set, r.cases(lookUp(text, entries, fallback, hostnames), d))...)
		default:
			if networks, ok := r.networkMap(source.pieces, entries); ok {
				all = append(all, in(source.set, networks)...)
				rest := neutral.Set{} // other addresses
				for _, n := range networks {
					rest = rest.And(n.set.Except())
				}
				if len(networks) == 1 {
					all = append(all, in(source.set.And(rest), r.cases(fallback, d))...)
				}
				continue
			}
			all = append(all, in(source.set, r.conditioned(d, source.pieces, entries, fallback, hostnames))...)
		}
	}
	return merged(all)
}

// in are cases for some requests only.
func in(set neutral.Set, cases []valueCase) (all []valueCase) {
	for _, c := range cases {
		if both := set.And(c.set); !both.Never {
			all = append(all, valueCase{both, c.pieces})
		}
	}
	return all
}

// merged are cases, those that make the same in one.
func merged(cases []valueCase) (all []valueCase) {
	var sets [][]neutral.Set
	for _, c := range cases {
		i := slices.IndexFunc(all, func(a valueCase) bool { return slices.Equal(a.pieces, c.pieces) })
		if i < 0 {
			i = len(all)
			all, sets = append(all, c), append(sets, nil)
		}
		sets[i] = append(sets[i], c.set)
	}
	for i := range all {
		all[i].set = neutral.Union(sets[i]...)
	}
	return all
}

// fixedText is the text that pieces make; false if it depends on the request.
func fixedText(pieces []piece) (text string, ok bool) {
	for _, p := range pieces {
		if p.variable != "" {
			return "", false
		}
		text += p.text
	}
	return text, true
}

// conditioned are the cases of a map of variables that nginx has itself.
func (r *reader) conditioned(d *nginxconf.Directive, pieces []piece, entries []entry, fallback string, hostnames bool) (all []valueCase) {
	var before []neutral.Set    // what earlier entries took
	var values []string         // with one value after the other
	var fitting [][]neutral.Set // what fits each
	for _, e := range entries {
		set, ok := conditionOn(pieces[0].variable, e, hostnames)
		if len(pieces) > 1 {
			set, ok = conditionOnText(pieces, e, hostnames)
		}
		if !ok {
			r.Lose(e.Place(), "no condition says that %s is %s: this entry is left out", d.Args[0], e.Name)
			continue
		}
		if onlyDash(e.key, e.regexp) {
			r.Tell(e.Place(), dash, d.Args[0], "no")
		}
		if pieces[0].variable == "server_port" {
			r.Lose(d.Place(), "only a log with the port tells what $server_port was; else it is taken for none of those here")
		}
		if e.captures() {
			r.Lose(e.Place(), "what the expression %s captures is not understood: %s is taken in its place", e.Name, d.Args[0])
			e.value = d.Args[0]
		}
		if len(values) > 0 && values[len(values)-1] == e.value {
			fitting[len(fitting)-1] = append(fitting[len(fitting)-1], set)
			continue
		}
		values, fitting = append(values, e.value), append(fitting, []neutral.Set{set})
	}
	left := neutral.Set{}
	for i, value := range values {
		set := neutral.Union(fitting[i]...)
		for _, b := range before {
			if !neutral.Apart(b, set) {
				set = set.And(b.Except())
			}
		}
		before = append(before, neutral.Union(fitting[i]...))
		left = left.And(neutral.Union(fitting[i]...).Except())
		all = append(all, in(set, r.cases(value, d))...)
	}
	return append(all, in(left, r.cases(fallback, d))...)
}

var something = lazy.Regexp(`^\^?\.[+*]?\$?$`)

// conditionOnPart is conditionOn for a part that requests may lack.
func conditionOnPart(part string, e entry) (neutral.Set, bool) {
	switch {
	case part == "agent":
		return conditionOnAgent(e)
	case !e.regexp && e.key == "":
		return neutral.Lacking(part), true
	case e.regexp && something().MatchString(strings.TrimPrefix(e.key, "*")):
		return neutral.Lacking(part).Except(), true
	case part == "user":
		return neutral.None, false
	case e.regexp:
		return neutral.Within("with", part+"~"+neutral.Insensitive(e.key)), neutral.Compiles(e.key)
	case strings.ToLower(e.key) == strings.ToUpper(e.key):
		return neutral.Within("with", part+"="+e.key), true
	}
	return neutral.Within("with", part+"~(?i)^"+regexp.QuoteMeta(e.key)+"$"), true
}

// A dash is what logs have where there is nothing, and so no text that a condition can tell from that.
func onlyDash(text string, regexp bool) bool {
	return !regexp && text == "-" || regexp && strings.TrimPrefix(text, "*") == "^-$"
}

const dash = "logs have - where there is no %s, which is not what this asks for: %s request is taken to fit it"

func conditionOnAgent(e entry) (neutral.Set, bool) {
	switch {
	case onlyDash(e.key, e.regexp):
		return neutral.None, true
	case e.regexp:
		re, err := regexp.Compile(neutral.Insensitive(e.key))
		set := neutral.Within("agent", neutral.Insensitive(e.key))
		if err == nil && (re.MatchString("") || re.MatchString("-")) { // no expression fits an empty text in a map
			set = set.And(neutral.Within("agent", neutral.NoAgent).Except())
		}
		return set, err == nil
	case e.key == "":
		return neutral.Within("agent", neutral.NoAgent), true
	}
	return neutral.Within("agent", "(?i)^"+regexp.QuoteMeta(e.key)+"$"), true
}

// conditionOn is the set of requests whose variable an entry fits; false if no condition says so.
func conditionOn(variable string, e entry, hostnames bool) (neutral.Set, bool) {
	if part, ok := PartOf(variable); ok && neutral.CanLack(part) {
		return conditionOnPart(part, e)
	}
	switch variable {
	case "remote_addr", "binary_remote_addr":
		addr, err := netip.ParseAddr(e.key)
		if err != nil || e.regexp {
			return neutral.None, false
		}
		return neutral.Within("network", addr.String()), true
	case "server_port":
		return neutral.Within("port", e.key), !e.regexp && e.key != "" && strings.Trim(e.key, "0123456789") == ""
	case "request_method":
		if words := neutral.MethodsIn(strings.TrimPrefix(e.key, "*")); e.regexp && words != nil {
			return neutral.Within("method", words...), true
		}
		if e.regexp {
			re, err := regexp.Compile(neutral.Insensitive(e.key))
			return ofMethods(slices.DeleteFunc(slices.Clone(neutral.Methods), func(m string) bool { return err == nil && !re.MatchString(m) })), err == nil
		}
		return neutral.Within("method", strings.ToUpper(e.key)), !e.regexp && e.key != ""
	case "host", "http_host":
		name := strings.ToLower(e.key)
		if rest, ok := strings.CutPrefix(name, "."); ok && hostnames {
			return neutral.Within("host", rest, "*."+rest), true
		}
		return neutral.Within("host", name), !e.regexp && name != "" && (hostnames || !strings.ContainsAny(name, "*?"))
	case "request_uri":
		if always := e.regexp && something().MatchString(strings.TrimPrefix(e.key, "*")); always || e.key == "" {
			return neutral.Set{}.Unless(!always), true
		}
		return conditionOnPart(neutral.WholeTarget, e)
	case "uri", "document_uri":
		return conditionOnPath(e)
	}
	return neutral.None, false
}

func conditionOnPath(e entry) (neutral.Set, bool) {
	switch {
	case e.regexp:
		return neutral.Within("regexp", neutral.Insensitive(e.key)), neutral.Compiles(e.key)
	case strings.ToLower(e.key) != strings.ToUpper(e.key): // a map takes texts in either case
		return neutral.Within("regexp", "(?i)^"+regexp.QuoteMeta(e.key)+"$"), strings.HasPrefix(e.key, "/")
	}
	return neutral.Exactly(e.key), strings.HasPrefix(e.key, "/")
}
