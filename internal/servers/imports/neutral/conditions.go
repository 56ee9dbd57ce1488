package neutral

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
)

// Below are the requests whose path begins so.
func Below(prefix string) Set {
	if prefix == "/" {
		return Set{}
	}
	return Within("prefix", prefix)
}

// Exactly are the requests of one path.
func Exactly(path string) Set {
	if strings.ContainsAny(path, "*?\\") {
		return Within("regexp", "^"+regexp.QuoteMeta(path)+"$")
	}
	return Within("path", path)
}

// HostSet are the requests for some hosts; false if they are tested in a way that is not known.
func HostSet(how string, values []string) (Set, bool) {
	var all []string
	for _, v := range values {
		v, _, _ = strings.Cut(strings.ToLower(v), ":")
		if how == "dom" {
			v = strings.Trim(v, ".")
		}
		all = append(all, mapped.Add(nil, hostMasks[how], func(mask string) string { return strings.Replace(mask, "HOST", v, 1) })...)
	}
	if len(all) == 0 && len(values) > 0 {
		return None, false
	}
	return Within("host", all...), len(all) > 0
}

// MethodsIn are the methods that an expression is made of, nil if it is none of whole words: ^P fits POST and PUT.
func MethodsIn(pattern string) (words []string) {
	parts := methodWords().FindStringSubmatch(pattern)
	if parts == nil {
		return nil
	}
	words = strings.Split(parts[1], "|")
	whole := strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$")
	if !whole && slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(Methods, w) }) {
		return nil
	}
	return words
}

// Methods holds those for which an expression is tried one by one; the last stands for all others.
var Methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "OTHER"}

// affixes has what stands around a text in an expression, by how that is tested.
var affixes = map[string][2]string{"": {"^", "$"}, "str": {"^", "$"}, "beg": {"^", ""}, "end": {"", "$"}, "sub": {}, "dir": {}, "reg": {}}

// TextSet are the requests whose path or agent has one of some texts.
func TextSet(key, how string, values []string, fold bool) (Set, bool) {
	affix, known := affixes[how]
	plainPath := key == "regexp" && !fold
	var sets []Set
	for _, v := range values {
		pattern := affix[0] + regexp.QuoteMeta(v) + affix[1]
		switch {
		case !known:
			return None, false
		case plainPath && affix == affixes["str"]:
			sets = append(sets, Exactly(v))
			continue
		case plainPath && how == "beg" && strings.HasPrefix(v, "/"):
			sets = append(sets, Below(v))
			continue
		case how == "dir":
			pattern = "/" + regexp.QuoteMeta(strings.Trim(v, "/?")) + "(/|$)"
		case how == "reg":
			pattern = v
		}
		if fold {
			pattern = "(?i)" + pattern
		}
		if _, err := regexp.Compile(pattern); err != nil {
			return None, false
		}
		sets = append(sets, Within(key, pattern))
	}
	return Union(sets...), len(sets) > 0
}

// beforeQuery fits expressions of how a path begins, or of all of it, which no query changes.
var beforeQuery = lazy.Regexp(`^(?:\(\?i\))?\^(?:\(\?:)?/(?:\\[./d-]|[\w/%~+*?-]|\([\w/|%-]+\)|\[[\w-]+\])*` +
	`(?:|\.\*\)?\$|(?:\(/\.\*\)\?)?\(\\\?\.\*\)\?\)?\$|\((?:/\|)?\\\?\|\$\))$`)

// TargetSet returns the requests whose path with its query has a text, or fits it. Where no query matters, the path says it.
func TargetSet(how, text string, fold bool) (Set, bool) {
	affix, known := affixes[how]
	pattern := affix[0] + regexp.QuoteMeta(text) + affix[1]
	if how == "reg" {
		pattern = text
	}
	switch {
	case !known || !Compiles(pattern):
		return None, false
	case how == "beg" && !fold && !strings.Contains(text, "?"):
		return TextSet("regexp", how, []string{text}, false)
	case how == "" && !fold:
		return Within("with", WholeTarget+"="+text), true
	case fold:
		pattern = "(?i)" + pattern
	}
	if beforeQuery().MatchString(pattern) {
		return Within("regexp", strings.NewReplacer(`(\?.*)?`, "", `\?|$)`, "$)").Replace(pattern)), true
	}
	return Within("with", WholeTarget+"~"+pattern), true
}

// Compiles reports whether an expression of nginx is one that Go has, too.
func Compiles(pattern string) bool {
	_, err := regexp.Compile(Insensitive(pattern))
	return err == nil
}

// Insensitive is an expression as Go has it; an asterisk in front stands for either case.
func Insensitive(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "*"); ok {
		return "(?i)" + rest
	}
	return pattern
}

// NetworkSet returns the requests of clients of some networks; false if one is none.
func NetworkSet(values []string) (Set, bool) {
	var networks []string
	for _, v := range values {
		prefix, err := ParseNetwork(v)
		switch {
		case v == "private_ranges": // of Caddy
			networks = append(networks, "private")
		case err != nil:
			return Set{}, false
		default:
			networks = append(networks, NetworkText(prefix))
		}
	}
	return Within("network", networks...), len(networks) > 0
}

// NetworkText returns a network as conditions have it: an address alone is one, too.
func NetworkText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// ParseNetwork reads an address or a prefix; bits beyond its length do not count.
func ParseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err
}

// Narrower reports whether a name is one of those that a mask stands for, and not the mask.
func Narrower(name, mask string) bool {
	head, tail, ok := strings.Cut(mask, "*")
	return ok && name != mask && len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)
}

// SortedPorts are ports in the order of their numbers, each once.
func SortedPorts(ports []string) []string {
	slices.SortFunc(ports, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return slices.Compact(ports)
}

// UpperAll returns texts in capitals.
func UpperAll(texts []string) []string { return mapped.Add(nil, texts, strings.ToUpper) }
