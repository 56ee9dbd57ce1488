// Package imports reads what servers are told of limits: a configuration comes in, and what goes out is a shadow.yaml
// with the same limits, each with its file and line, and what was not understood.
package imports

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/haproxy"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/servers/imports/nginx"
	"shadow/limit"
)

// An Import is the limits of some configurations.
type Import struct {
	neutral.Result

	docs      []doc                   // that were not read yet
	said      map[*policy.Tree]string // what documents are, as --from has it
	nginx     nginx.Configs
	jails     []jailFile
	terraform []doc
}

// onlyKnown tells of the words of a part that are not among some, which stand in lower case without underscores. One with
// an asterisk behind it stands for all that begin so. What begins as comments do is none. note is lose where the part is of a
// limit, and tell elsewhere.
func onlyKnown(note func(place, text string, args ...any), d doc, part *policy.Tree, known string) {
	told := 0
	for _, key := range part.Keys() {
		if key == "" || strings.ContainsAny(key[:1], "@$_#") {
			continue
		}
		if !slices.ContainsFunc(strings.Fields(known), func(word string) bool {
			begin, open := strings.CutSuffix(word, "*")
			return plainKey(key) == begin || open && strings.HasPrefix(plainKey(key), begin)
		}) {
			if told++; told > mostUnknown {
				note(d.place(part.Get(key)), "and more words here are not understood")
				return
			}
			note(d.place(part.Get(key)), "%s is not understood", key)
		}
	}
}

// mostUnknown is the most words of a part that are told by name.
const mostUnknown = 20

// A format is a kind of configuration: a text of its own, or documents in YAML or JSON.
type format struct {
	name string

	is   func(text []byte) bool // whether a text looks like one
	read func(i *Import, file string, text []byte) error

	has  func(d doc) bool // whether a document has something of it
	take func(i *Import, docs []doc)
}

// matches reports of a text whether an expression fits it.
func matches(expression func() *regexp.Regexp) func(text []byte) bool {
	return func(text []byte) bool { return expression().Match(text) }
}

// A doc is a document, or a part of one, and the file where it stands.
type doc struct {
	*policy.Tree
	file string
}

// place formats the file and line of a part of the document.
func (d doc) place(part *policy.Tree) string {
	if part == nil {
		part = d.Tree
	}
	return fmt.Sprintf("%s:%d", d.file, part.Line)
}

// The readers of nginx and HAProxy are rooms of their own.
var (
	nginxFormat = format{name: "nginx", is: matches(nginx.Line), read: func(i *Import, file string, text []byte) error {
		return i.nginx.Read(&i.Result, file, text)
	}}
	haproxyFormat = format{name: "haproxy", is: matches(haproxy.Line), read: func(i *Import, file string, text []byte) error {
		return haproxy.Read(&i.Result, file, text)
	}}
)

var formats = []format{fail2banFormat, evasiveFormat, qosFormat, varnishFormat, haproxyFormat, terraformFormat, nginxFormat, caddyFormat, ingressFormat, haproxyIngressFormat, nginxPolicyFormat, traefikFormat, awsFormat, cloudflareFormat, kongFormat, apisixFormat, envoyFormat, gatewayFormat, aspnetFormat, krakendFormat}

// Formats are the names of the configurations that can be read.
func Formats() []string { return mapped.Add(nil, formats, func(f format) string { return f.name }) }

// templateMark matches what templates of Helm, Ansible, Chef and Go have in them.
var templateMark = lazy.Regexp(`\{\{-? *[.$"#/\w(].*?\}\}|\{%.*?%\}|<%[=-]? .*?%>`)

// unmade is said of a template.
const unmade = "it is a template (%s): give what is made of it, as helm template or the like writes it"

// Add reads a configuration whose text is that of a file; it may name others. from "" is found by looking. Documents
// are only taken in by Done, as they may belong together.
func (i *Import) Add(file string, text []byte, from string) error {
	if ofValues(file) {
		from = cmp.Or(from, terraformFormat.name)
	}
	text = bytes.TrimPrefix(ofUTF16(text), []byte("\ufeff")) // editors of Windows begin texts so, and end lines by two
	return i.add(file, file, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), from)
}

// ofUTF16 returns a text that PowerShell has written, and that begins with its mark, in UTF-8; others as they are.
func ofUTF16(text []byte) []byte {
	orders := map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian}
	order, known := orders[string(text[:min(2, len(text))])]
	if !known {
		return text
	}
	var units []uint16
	for ; len(text) > 1; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return []byte(string(utf16.Decode(units)))
}

// add reads a configuration that has a name of its own, as a part of a file may have.
func (i *Import) add(file, name string, text []byte, from string) error {
	for _, f := range formats {
		if f.read != nil && f.reads(name, text, from) {
			before := len(i.Policies)
			if mark := templateMark().Find(text); mark != nil {
				i.Lose(file, unmade, mark)
			}
			if err := f.read(i, file, text); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			i.CheckFrom(before)
			return nil
		}
	}
	if from != "" && !slices.Contains(Formats(), from) {
		return fmt.Errorf("unknown format %q%s; want one of %s", from, limit.Hint(from, Formats()),
			strings.Join(Formats(), ", "))
	}
	if jsonBegin().Match(text) { // settings of ASP.NET may have comments
		text = jsonComment().ReplaceAllFunc(text, withoutComment)
	}
	trees, err := policy.Trees(text)
	known := false
	for _, t := range trees {
		known = i.addDoc(doc{t, file}, from) || known
	}
	mark := templateMark().Find(text)
	switch {
	case mark != nil && (err != nil || !known):
		return fmt.Errorf("%s: "+unmade, file, mark)
	case err != nil && neutral.IsDocument(name):
		return fmt.Errorf("%s: %w", file, err)
	case !known && unread(text) != nil:
		return fmt.Errorf("%s: is of %w", file, unread(text))
	case !known:
		return fmt.Errorf("%s: is no configuration of a server that is known; --from says which: %s", file,
			strings.Join(Formats(), ", "))
	}
	return nil
}

var jsonBegin = lazy.Regexp(`^\s*(//|/\*|\{\s*("|//|/\*))`)

// jsonComment matches texts of JSON, which it must not look into, and comments.
var jsonComment = lazy.Regexp(`(?s)"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/`)

// withoutComment keeps texts, and of a comment how many lines it has.
func withoutComment(part []byte) []byte {
	if part[0] == '"' {
		return part
	}
	return bytes.Repeat([]byte("\n"), bytes.Count(part, []byte("\n")))
}

// reads reports whether a format is asked to read a text. What does not look like the text of a server that has documents
// too may be those.
func (f *format) reads(name string, text []byte, from string) bool {
	if from != "" {
		return from == f.name && (f.has == nil || f.is(text))
	}
	return !neutral.IsDocument(name) && f.is(text)
}

// addDoc keeps a document until all are there, and reads the files in a ConfigMap, whose lines stay those of the whole. It
// reports whether a format knows it.
func (i *Import) addDoc(d doc, from string) bool {
	if i.said == nil {
		i.said = map[*policy.Tree]string{}
	}
	i.said[d.Tree] = from
	known := slices.ContainsFunc(formats, func(f format) bool { return i.isOf(d, f) })
	i.docs = append(i.docs, d)
	for _, d := range each([]doc{d}, "ConfigMap") {
		for _, name := range d.Get("data").Keys() {
			at := d.Get("data", name)
			if i.add(d.file, name, []byte(strings.Repeat("\n", at.Line)+at.Text), "") == nil {
				known = true
			}
		}
	}
	return known
}

// isOf reports whether a document has something of a format, or is said to be one.
func (i *Import) isOf(d doc, f format) bool {
	return f.has != nil && (i.said[d.Tree] == f.name || f.has(d))
}

// unreadProducts are known by a word of their configurations, but have no reader: with the limit to write instead.
var unreadProducts = []struct{ name, word, limit string }{
	{"express-rate-limit", `express-rate-limit|windowMs`, "express-rate-limit:N/PERIOD"},
	{"rate-limiter-flexible", `rate-limiter-flexible|RateLimiter(Memory|Redis)\b`, "rate-limiter-flexible:POINTS/DURATION"},
	{"@fastify/rate-limit", `@fastify/rate-limit`, "fastify-rate-limit:MAX/WINDOW"},
	{"Flask-Limiter", `flask_limiter|RATELIMIT_DEFAULT`, "flask-limiter:N/PERIOD"},
	{"slowapi", `\bslowapi\b`, "slowapi:N/PERIOD"},
	{"Django REST framework", `DEFAULT_THROTTLE_RATES`, "django-rest-framework:N/d"},
	{"django-ratelimit", `django_ratelimit|\bratelimit\(key=`, "fixed:N/PERIOD"},
	{"Spring Cloud Gateway", `RequestRateLimiter|redis-rate-limiter`, "spring-cloud-gateway:RATE/s,burst=CAPACITY"},
	{"Bucket4j", `(?i)\bbucket4j\b`, "bucket4j:N/PERIOD,burst=CAPACITY"},
	{"Resilience4j", `(?i)resilience4j|limit-?for-?period`, "resilience4j:N/PERIOD"},
	{"Laravel", `RateLimiter::for|throttle:\d+,\d+`, "laravel:N/1m"},
	{"Symfony RateLimiter", `rate_limiter:`, "symfony:N/PERIOD,policy=fixed"},
	{"Rack::Attack", `Rack::Attack`, "rack-attack:N/PERIOD"},
	{"Contour", `projectcontour\.io`, "envoy-local:N/PERIOD,burst=CAPACITY"},
	{"Gloo", `ratelimit\.solo\.io`, "envoy:N/PERIOD"},
	{"Kuadrant", `kuadrant\.io`, "fixed:N/PERIOD"},
	{"NGINX Gateway Fabric", `gateway\.nginx\.org`, "nginx:RATEr/s,burst=N"},
	{"Higress", `higress\.io`, "fixed:N/PERIOD"},
	{"Ocelot", `UpstreamPathTemplate`, "fixed:N/PERIOD"},
	{"Azure's firewalls", `rateLimitThreshold`, "fixed:N/PERIOD"},
	{"Tyk", `"(global_rate_limit|quota_max)"|x-tyk-`, "window:N/PERIOD"},
	{"CrowdSec", `(?m)^type: *leaky`, "token:1/PERIOD,burst=CAPACITY"},
	{"ModSecurity", `(?m)^\s*SecRule\b`, "fixed:N/PERIOD"},
}

// unread says of which product a text is that has no reader, and which limit is to be written instead; nil if it is not known.
func unread(text []byte) error {
	for _, p := range unreadProducts {
		if regexp.MustCompile(p.word).Match(text) {
			return fmt.Errorf("%s, which is not read: write --limit %s", p.name, p.limit)
		}
	}
	return nil
}

// Done reads the documents, takes out what has no limits, and says if that is all.
func (i *Import) Done() {
	i.nginx.Take(&i.Result)
	i.takeJails()
	i.takeTerraform()
	for _, f := range formats {
		var docs []doc
		for _, d := range i.docs {
			if i.isOf(d, f) {
				docs = append(docs, d)
			}
		}
		if docs != nil {
			before := len(i.Policies)
			f.take(i, docs)
			i.CheckFrom(before)
		}
	}
	i.unreadLimits()
	i.Finish()
}
