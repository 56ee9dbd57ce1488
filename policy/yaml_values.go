package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"shadow/limit"
)

// What a document says, piece by piece: mappings with keys that are known, lists, texts.

// fields are the entries of a mapping, by their keys.
type fields struct {
	at     node
	values map[string]node // nil for those that say nothing
	order  []field         // without these
	misfit bool            // whether there is a key that cannot be
}

// lacks reports whether a key is not there at all. A key that cannot be may be meant for it.
func (f *fields) lacks(key string) bool {
	_, given := f.values[key]
	return !given && !f.misfit
}

type field struct {
	key   string
	at    node // of the key
	value node
}

// mapping reads a mapping that may have some keys; what is what it is. Without any, every key will do. false says that
// it is none, which is a problem.
func (d *document) mapping(at node, what string, keys []string) (fields, bool) {
	f := fields{at: at, values: map[string]node{}}
	m, ok := d.plain(at).(*ast.MappingNode)
	if !ok {
		if at.Type() != ast.AliasType {
			d.fail(at, "want a mapping here: %s has %s", what, keysText(keys))
		}
		return f, false
	}
	f.at = m
	for _, entry := range m.Values {
		key := entry.Key.GetToken().Value
		switch {
		case strings.ContainsFunc(key, isControl):
			d.fail(entry.Key, "the key %q has a control character in it", key)
		case keys != nil && !slices.Contains(keys, key):
			f.misfit = true
			d.fail(entry.Key, "unknown key %q%s; %s has %s", key, keyHint(key, keys), what, keysText(keys))
		default:
			d.take(&f, key, entry, what == theFile)
		}
	}
	return f, true
}

// take adds an entry to the fields. One that says nothing is a problem, unless it may.
func (d *document) take(f *fields, key string, entry *ast.MappingValueNode, mayBeEmpty bool) {
	f.values[key] = nil
	switch {
	case d.plain(entry.Value) != nil:
		f.values[key] = entry.Value
		f.order = append(f.order, field{key, entry.Key, entry.Value})
	case entry.Value.Type() == ast.NullType && !mayBeEmpty:
		d.fail(entry.Key, "%q has no value", key)
	}
}

func keysText(keys []string) string {
	if keys == nil {
		return "names of your own"
	}
	return strings.Join(keys, ", ")
}

// keyHint is a hint at what was meant by a key that there is not.
func keyHint(key string, keys []string) string {
	switch {
	case strings.Contains(key, "="):
		return " (inside braces, a limit with options must stand in quotes)"
	case slices.ContainsFunc(Algorithms, func(a Algorithm) bool { return a.Name == key }):
		return " (a limit has no blank behind its colon, such as " + key + ":60/1m)"
	case key == statusKey:
		return " (a limiter does not know the status when it decides; what is counted stands under count)"
	}
	return meantOf(key, keys)
}

// meantOf is a hint at the choice that a wrong word is near to.
func meantOf(word string, choices []string) string {
	if near := limit.Nearest(word, choices); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// items are the entries of a list, or the one node that stands in its place.
func (d *document) items(at node) []node {
	switch n := d.plain(at).(type) {
	case nil:
		return nil
	case *ast.SequenceNode:
		items := make([]node, len(n.Values))
		for i, item := range n.Values {
			items[i] = unsplit(item)
		}
		return items
	default:
		return []node{n}
	}
}

// text is a text in one piece; a number or a word such as true is one as well. false says that it is none, which is a
// problem.
func (d *document) text(at node) (string, bool) {
	text := ""
	switch n := d.plain(at).(type) {
	case nil:
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		text = n.GetToken().Value
	default:
		hint := ""
		if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle {
			hint = "; one with a colon and a blank in it must stand in quotes"
		}
		d.fail(at, "want a text here%s", hint)
		return "", false
	}
	switch {
	case at.Type() == ast.AliasType: // which is a problem already
	case text == "":
		d.fail(at, "want a text here, not an empty one")
	case strings.ContainsFunc(text, isControl):
		d.fail(at, "%q has a line break or another control character in it", text)
	default:
		return text, true
	}
	return "", false
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// A value is a text and where it stands.
type value struct {
	text string
	at   node
}

// values are the texts of a list, or the one that stands in its place. None, or one twice, is a problem.
func (d *document) values(at node) []value {
	var values []value
	items := d.items(at)
	if len(items) == 0 && at.Type() == ast.SequenceType {
		d.fail(at, "the list is empty")
	}
	seen := map[string]bool{}
	for _, item := range items {
		text, ok := d.text(item)
		if !ok {
			continue
		}
		if seen[text] {
			d.fail(item, "%q stands here twice", text)
		}
		seen[text] = true
		values = append(values, value{text, item})
	}
	return values
}
