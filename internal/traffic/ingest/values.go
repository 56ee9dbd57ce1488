package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/parse"
)

// A field by which requests are to be counted, or cost something, and which no log has is an error that says what there is. Any line of JSON
// may have any key: there it is an error only if the beginning of the log has a key of nearly that name, and a warning if
// no request turns out to have it.

// A Trial holds values that are only tried: requests and inputs may lack them, without a word, and if there are too
// many of some, they need not be kept. Several goroutines may use it at once.
type Trial struct{ given atomic.Uint32 }

// GiveUp says that the values of a column are not wanted any more. Requests that have been read may have them.
func (t *Trial) GiveUp(column int) { t.given.Or(1 << column) }

// GivenUp reports whether the values of a column are not wanted any more. A nil Trial wants all.
func (t *Trial) GivenUp(column int) bool { return t != nil && t.given.Load()>>column&1 == 1 }

// value appends part i of the requests.
func (in *intake) value(r *rows, i int, records []parse.Record) {
	column := &r.Values[i]
	if in.trial.GivenUp(i) {
		for range records {
			*column = append(*column, traffic.NoValue)
		}
		return
	}
	for j := range records {
		id := int32(traffic.NoValue)
		if name := in.values.Of(i, &records[j]); name != nil {
			id = in.tables.Values.ID(name)
			if r.valued>>i&1 == 0 && in.values.Counts(i, name) {
				r.valued |= 1 << i
			}
		}
		*column = append(*column, id)
	}
}

// A missingPart is a part of a key that a log lacks or seems to lack.
type missingPart struct {
	part request.Part
	text string // what there is in its place
	sure bool   // whether no line can have it
}

// absent returns a warning about requests all of which lack the part.
func (m *missingPart) absent(requests string) string {
	if m.part.Number {
		return fmt.Sprintf("%s has a number in %s%s: each costs one", requests, m.part, m.text)
	}
	return fmt.Sprintf("%s has %s%s: what counts by it counts by client", requests, m.part, m.text)
}

// missingParts returns the values that a log lacks, judged by its format and its beginning.
func missingParts(values *match.Values, sample []byte, f *parse.Format) (missing []missingPart) {
	for i, part := range values.Parts() {
		has := values.Has(i, f)
		if has && occurs(values, i, sample, f) {
			continue
		}
		m := missingPart{part: part, sure: !has}
		if part.Kind != request.PartSegment && (!has || f.Names() == nil) {
			names := FieldsOf(sample, f)
			m.text = thereAre(names)
			if near := nearestName(part, names); near != "" && !strings.EqualFold(near, part.String()) {
				m.sure, m.text = true, fmt.Sprintf(" (did you mean %q?)", near)+m.text
			}
		}
		missing = append(missing, m)
	}
	return missing
}

// FieldsOf returns the names of fields that a format has, or else the beginning of a log.
func FieldsOf(sample []byte, f *parse.Format) []string {
	if names := f.Names(); names != nil {
		return names
	}
	return keysOf(sample)
}

// thereAre lists names.
func thereAre(names []string) string {
	if len(names) == 0 {
		return ""
	}
	text := "; there are " + strings.Join(names[:min(len(names), namesShown)], ", ")
	if len(names) > namesShown {
		text += ", …"
	}
	return text
}

// neverAbsent returns warnings about conditions on what requests must not have, and none seems to have.
func (o *Options) neverAbsent(sample []byte, f *parse.Format) (texts []string) {
	for _, m := range missingParts(o.Scopes.Absent(), sample, f) {
		texts = append(texts, fmt.Sprintf("no request at the beginning has %s%s: a condition asks for requests without it", m.part, m.text))
	}
	return texts
}

// occurs reports whether value i is in the beginning of a log.
func occurs(values *match.Values, i int, sample []byte, f *parse.Format) bool {
	for r := range records(sample, f) {
		if values.Counts(i, values.Of(i, r)) {
			return true
		}
	}
	return false
}

// lack says what requests are counted by and a log does not have, what to do about it, and what becomes of its requests
// if other logs have it; "" if nothing is missing.
func (o *Options) lack(f *parse.Format, missing []missingPart) (what, text, instead string) {
	if what = o.lacks(f); what == TheTime {
		return what, fmt.Sprintf("the format %s does not tell how long requests take, so it is not known which are under way "+
				"at once; log it: nginx $request_time, Apache %%D, HAProxy %%Ta, or request_time in JSON", f.Name),
			"its requests take no time"
	} else if what != "" {
		return what, fmt.Sprintf("the format %s does not tell %s; if the log does, state the whole of its format: %s …", f.Name, what, f.Text),
			`its requests count as those of one, "-"`
	}
	for _, m := range missing {
		if m.sure {
			instead = "its requests count by client"
			if m.part.Number {
				instead = "each of its requests costs one"
			}
			return m.part.String(), fmt.Sprintf("the format %s has no %s%s", f.Name, m.part, m.text), instead
		}
	}
	return "", "", ""
}

// namesShown is the most names of fields that an error shows.
const namesShown = 40

// nearestName returns the part that was likely meant by one that is not there, "" if none is near.
func nearestName(part request.Part, names []string) string {
	parts, words := map[string]string{}, []string{}
	for _, name := range names {
		last := name[strings.LastIndexByte(name, '.')+1:]
		for _, word := range []string{name, last} {
			if word = strings.ToLower(word); parts[word] == "" {
				words = append(words, word)
				parts[word] = "field:" + name
				if part.Kind == request.PartHeader && last != name {
					parts[word] = "header:" + last
				}
			}
		}
	}
	near := limit.Misspelt(part.Name, words)
	if near == "" && part.Kind == request.PartHeader {
		near = limit.Misspelt("http_"+strings.ReplaceAll(part.Name, "-", "_"), words)
	}
	return parts[near]
}

// keysOf returns the keys in lines of JSON or logfmt, those of objects in objects with dots between them.
func keysOf(sample []byte) []string {
	keys := map[string]bool{}
	for line := range bytes.Lines(sample) {
		var object map[string]any
		if json.Unmarshal(line, &object) == nil {
			addKeys(keys, "", object)
			continue
		}
		for word := range strings.FieldsSeq(string(line)) {
			if key, _, pair := strings.Cut(word, "="); pair && request.IsName(key) {
				keys[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// mostKeys is the most keys of a log that are looked at.
const mostKeys = 1000

func addKeys(keys map[string]bool, path string, object map[string]any) {
	for key, value := range object {
		key = path + key
		if inner, is := value.(map[string]any); is {
			addKeys(keys, key+".", inner)
		} else if len(keys) < mostKeys && request.IsName(key) {
			keys[key] = true
		}
	}
}

// unvalued returns warnings about parts that no request of an input had.
func (f *feed) unvalued(parts []request.Part) (texts []string) {
	for _, m := range f.missing {
		if i := slices.Index(parts, m.part); !m.sure && f.valued>>i&1 == 0 {
			texts = append(texts, m.absent("no request"))
		}
	}
	return texts
}
