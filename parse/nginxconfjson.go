package parse

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shadow/internal/lazy"
)

// A log_format may be a template of JSON: {"at":"$time_iso8601","client":{"ip":"$remote_addr"},"status":$status}
//
// With its bare variables put in quotes it is JSON itself. Each string in it that is one variable shows under which
// key that variable is logged, and the names of the variables say what they mean.

// IsJSONTemplate reports whether a log_format writes JSON.
func IsJSONTemplate(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") && strings.Contains(text, `"`)
}

// CompileJSONTemplate compiles a log_format that writes JSON.
func CompileJSONTemplate(text string, o Options) (*Format, error) {
	var template any
	if err := json.Unmarshal([]byte(quoteVariables(text)), &template); err != nil {
		return nil, fmt.Errorf("the format looks like JSON but is not: %w", err)
	}
	keys := map[string]string{}
	collectVariables(keys, "", template)
	o.Extra = slices.Clone(o.Extra)
	for i, name := range o.Extra {
		if header := headerOf(name); header != "" {
			name = nginxHeader(header)
		} else if cookie := cookieOf(name); cookie != "" {
			name = "cookie_" + cookie
		}
		if key, ok := keys[name]; ok {
			o.Extra[i] = key
		}
	}
	return CompileNamedJSON("nginx json", mappingOfVariables(keys), o)
}

// mappingOfVariables turns the keys of nginx variables into a mapping. Of those that feed the same field the best comes
// first.
func mappingOfVariables(keys map[string]string) FieldMapping {
	m := FieldMapping{}
	byRank := func(a, b string) int {
		return cmp.Or(cmp.Compare(nginxVariables[a].rank, nginxVariables[b].rank), cmp.Compare(a, b))
	}
	for _, name := range slices.SortedFunc(maps.Keys(keys), byRank) {
		if field := jsonFieldOf(nginxVariables[name].kind); field != "" {
			m[field] = append(m[field], keys[name])
		}
	}
	return m
}

// jsonFieldOf returns what a mapping calls the meaning of a variable, "" if it has none.
func jsonFieldOf(k fieldKind) string {
	if k == kindText || k == kindSkip {
		return ""
	}
	field := slot(kindInfos[k].feeds)
	if k == kindRequest {
		field = slotRequest
	}
	for _, f := range jsonFields {
		if f.slot == field {
			return f.name
		}
	}
	return ""
}

var (
	bareVariable = lazy.Regexp(`^\$(\w+|\{\w+\})`)
	oneVariable  = lazy.Regexp(`^\$(?:(\w+)|\{(\w+)\})$`)
)

// quoteVariables puts quotes around each variable that stands outside of quotes.
func quoteVariables(text string) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
		case c == '"':
			inString = !inString
		case c == '$' && !inString:
			if name := bareVariable().FindString(text[i:]); name != "" {
				b.WriteString(`"` + name + `"`)
				i += len(name) - 1
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// collectVariables notes the path of each value that is one variable.
func collectVariables(keys map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if path != "" {
				key = path + "." + key
			}
			collectVariables(keys, key, inner)
		}
	case []any:
		if len(v) > 0 {
			collectVariables(keys, path, v[0])
		}
	case string:
		if m := oneVariable().FindStringSubmatch(v); m != nil {
			keys[m[1]+m[2]] = path
		}
	}
}
