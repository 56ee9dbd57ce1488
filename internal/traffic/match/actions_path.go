package match

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"shadow/internal/request"
)

// Without a rule, the path names the action:
//
//	/                        /
//	/about, /about/          /about
//	/product/1, /product/2/  /product/…
//	/assets/site.css         static, like all that has the ending of a style sheet, a script, an image, a font …
//	*, example.com:443       (no path)
//	a request that is not HTTP, such as the bytes of a TLS handshake: (not http)
//
// A page and what lies below it are two actions on purpose: /product lists, /product/1 shows. The name depends on
// the path alone, never on what else is in the log. Case and percent signs are left as they were logged.
const (
	StaticAction  = "static"
	noPathAction  = "(no path)"
	NotHTTPAction = "(not http)"
	otherAction   = "(other)"
	below         = "/…"
	maxRoute      = 256 // bytes of a route that are its name
	maxSegment    = 64  // bytes of a segment that go into a name
)

// IsCommon reports whether an action is one of those that this package names itself, whatever was asked for.
func IsCommon(name string) bool {
	return name == StaticAction || name == noPathAction || name == NotHTTPAction || name == otherAction
}

// PathOf returns the path of a request target: without query and fragment, and in the absolute form that proxies are
// sent (http://host/path) without the host.
func PathOf(target []byte) []byte {
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		target = target[:i]
	}
	if i := bytes.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	if len(target) > 0 && target[0] != '/' {
		return AfterHost(target)
	}
	return target
}

// AfterHost returns the path of a target in the absolute form, and any other as it is.
func AfterHost(target []byte) []byte {
	n := bytes.Index(target, []byte("://"))
	if n < 0 || !IsScheme(target[:n]) {
		return target
	}
	if slash := bytes.IndexByte(target[n+3:], '/'); slash >= 0 {
		return target[n+3+slash:]
	}
	return []byte("/")
}

// IsScheme reports whether b is http or https, in any case.
func IsScheme(b []byte) bool {
	return bytes.EqualFold(b, []byte("http")) || bytes.EqualFold(b, []byte("https"))
}

// appendAction appends the name of the action that a path stands for. No character is cut in two.
func appendAction(dst, path []byte) []byte {
	if len(path) == 0 || path[0] != '/' {
		return append(dst, noPathAction...)
	}
	if IsStatic(path) {
		return append(dst, StaticAction...)
	}
	segment, rest := cutSegment(path)
	dst = append(dst, '/')
	if len(segment) > maxSegment {
		end := maxSegment
		for end > maxSegment-utf8.UTFMax && !utf8.RuneStart(segment[end]) {
			end--
		}
		dst = append(append(dst, segment[:end]...), "…"...)
	} else {
		dst = append(dst, segment...)
	}
	if next, _ := cutSegment(rest); len(next) > 0 {
		dst = append(dst, below...)
	}
	return dst
}

// Ask has a path of several segments be an action of its own, and what is below it another one: /user/login and
// /user/login/…, which are /user/… else. Names of rules, and paths of one segment, are actions anyway. It must be called
// before there is a Matcher.
func (a *Actions) Ask(name string) {
	if _, known := a.dict.Find([]byte(name)); known {
		return
	}
	segments := strings.FieldsFunc(strings.TrimRight(name, "/…*"), func(c rune) bool { return c == '/' })
	if len(segments) > 1 {
		a.asked = segments
	}
}

// appendAsked appends the name of an action that was asked for, nothing if the path is none of its.
func (a *Actions) appendAsked(dst, path []byte) []byte {
	if a.asked == nil || IsStatic(path) {
		return dst
	}
	rest := path
	for _, want := range a.asked {
		var segment []byte
		if segment, rest = cutSegment(rest); string(segment) != want {
			return dst
		}
	}
	for _, segment := range a.asked {
		dst = append(append(dst, '/'), segment...)
	}
	if next, _ := cutSegment(rest); len(next) > 0 {
		dst = append(dst, below...)
	}
	return dst
}

// cutSegment returns the first segment of a path that is not empty, without its parameters (;jsessionid=…), and what
// follows it.
func cutSegment(path []byte) (segment, rest []byte) {
	for len(path) > 0 && path[0] == '/' {
		path = path[1:]
	}
	end := bytes.IndexByte(path, '/')
	if end < 0 {
		end = len(path)
	}
	segment, rest = path[:end], path[end:]
	if semicolon := bytes.IndexByte(segment, ';'); semicolon >= 0 {
		segment = segment[:semicolon]
	}
	return segment, rest
}

// IsStatic reports whether the path ends like a file that belongs to a page.
func IsStatic(path []byte) bool {
	const longest = len(".woff2")
	var ending [longest]byte
	for i := range min(longest, len(path)) {
		c := path[len(path)-1-i]
		if c == '.' {
			return staticEndings[string(ending[longest-i:])]
		}
		ending[longest-1-i] = c | 0x20 // lower case; digits stay what they are
	}
	return false
}

var staticEndings = setOf(request.StaticEndings...)

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}
