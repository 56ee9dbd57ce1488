package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"shadow/limit"
)

// A configuration is read node by node rather than into structs, so that reading goes on after a mistake and every
// mistake is told with its place.

// A Problem is a mistake in a configuration.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 when it is about the whole file
	Text         string
}

// String is the problem on one line, with its place in front.
func (p Problem) String() string {
	switch {
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems are the mistakes of a configuration: those of the file itself in their order, then those of other files.
type Problems []Problem

// Error is the problems, one on each line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// maxProblems are shown of a configuration; who has more should begin with these.
const maxProblems = 50

// A document is a YAML file on its way to become a Config.
type document struct {
	name     string // what problems call it
	problems Problems
	further  int // problems that are not kept
}

// fail notes a problem at a node.
func (d *document) fail(at ast.Node, format string, args ...any) {
	t := at.GetToken()
	if m, ok := at.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		t = m.Values[0].Key.GetToken()
	}
	d.add(Problem{d.name, t.Position.Line, t.Position.Column, fmt.Sprintf(format, args...)})
}

func (d *document) add(p Problem) {
	if len(d.problems) == maxProblems {
		d.further++
		return
	}
	d.problems = append(d.problems, p)
}

// found is how many problems there are so far.
func (d *document) found() int { return len(d.problems) + d.further }

// err is all problems in the order of their places, or nil.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(p, q Problem) int {
		switch {
		case p.File == q.File:
			return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
		case p.File == d.name:
			return -1
		case q.File == d.name:
			return 1
		}
		return cmp.Compare(p.File, q.File)
	})
	if d.further > 0 {
		return append(d.problems, Problem{File: d.name, Text: fmt.Sprintf("%d problems more", d.further)})
	}
	return d.problems
}

// parse is the top of the document, nil when it says nothing.
func (d *document) parse(text []byte) ast.Node {
	if deep := tooDeep(text); deep != nil {
		d.add(Problem{d.name, deep.Position.Line, deep.Position.Column, "nests too deep"})
		return nil
	}
	file, err := parser.ParseBytes(text, 0)
	switch {
	case err != nil:
		d.add(d.syntax(err))
	case len(file.Docs) > 1:
		d.add(Problem{File: d.name, Text: "holds more than one document; want one"})
	case len(file.Docs) == 1 && file.Docs[0].Body != nil:
		return d.plain(file.Docs[0].Body)
	}
	return nil
}

// syntax is what the parser complains about.
func (d *document) syntax(err error) Problem {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return Problem{File: d.name, Text: err.Error()}
	}
	p := at.GetToken().Position
	return Problem{d.name, p.Line, p.Column, at.GetMessage()}
}

// maxDepth is how deep lists and brackets may nest. The parser takes memory with the square of that, 15 GB for 100 kB of
// dashes; a configuration needs few.
const maxDepth = 50

// tooDeep is where a text nests deeper, or nil. A dash is nested no deeper than its column says; a mapping without
// brackets takes a line with a larger indent for each level, so a short one cannot be deep.
func tooDeep(text []byte) *token.Token {
	depth := 0
	for _, t := range lexer.Tokenize(string(text)) {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > maxDepth || t.Type == token.SequenceEntryType && t.Position.Column > 2*maxDepth {
			return t
		}
	}
	return nil
}

// plain is the node behind anchors and tags, nil for one that says nothing. Aliases are not read: most asterisks at the
// beginning of a text are patterns that lack their quotes.
func (d *document) plain(node ast.Node) ast.Node {
	for {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.TagNode:
			node = n.Value
		case *ast.AliasNode:
			d.fail(n, "a text that begins with * must stand in quotes; aliases are not read")
			return nil
		case *ast.NullNode:
			return nil
		default:
			return node
		}
	}
}

// fields are the entries of a mapping, by their keys.
type fields struct {
	at     ast.Node
	values map[string]ast.Node // nil for those that say nothing
	order  []field             // without these
	misfit bool                // whether there is a key that cannot be
}

// lacks tells whether a key is not there at all. A key that cannot be may be meant for it.
func (f *fields) lacks(key string) bool {
	_, given := f.values[key]
	return !given && !f.misfit
}

type field struct {
	key   string
	at    ast.Node // of the key
	value ast.Node
}

// mapping reads a mapping that may have some keys; what is what it is. Without any, every key will do. false says that
// it is none, which is a problem.
func (d *document) mapping(node ast.Node, what string, keys []string) (fields, bool) {
	f := fields{at: node, values: map[string]ast.Node{}}
	m, ok := d.plain(node).(*ast.MappingNode)
	if !ok {
		if node.Type() != ast.AliasType {
			d.fail(node, "want a mapping here: %s has %s", what, keysText(keys))
		}
		return f, false
	}
	f.at = m
	for _, v := range m.Values {
		key := v.Key.GetToken().Value
		if strings.ContainsFunc(key, isControl) {
			d.fail(v.Key, "the key %q has a control character in it", key)
		}
		if keys != nil && !slices.Contains(keys, key) {
			f.misfit = true
			d.fail(v.Key, "unknown key %q%s; %s has %s", key, keyHint(key, keys), what, keysText(keys))
			continue
		}
		if f.values[key] = v.Value; d.plain(v.Value) == nil {
			if v.Value.Type() == ast.NullType && what != theFile {
				d.fail(v.Key, "%q has no value", key)
			}
			f.values[key] = nil
			continue
		}
		f.order = append(f.order, field{key, v.Key, v.Value})
	}
	return f, true
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
func (d *document) items(node ast.Node) []ast.Node {
	switch n := d.plain(node).(type) {
	case nil:
		return nil
	case *ast.SequenceNode:
		return n.Values
	default:
		return []ast.Node{n}
	}
}

// text is a text in one piece; a number or a word such as true is one as well. false says that it is none, which is a
// problem.
func (d *document) text(node ast.Node) (string, bool) {
	text, at := "", d.plain(node)
	switch n := at.(type) {
	case nil:
		at = node
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		text = n.GetToken().Value
	default:
		d.fail(node, "want a text here")
		return "", false
	}
	switch {
	case node.Type() == ast.AliasType:
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
	at   ast.Node
}

// values are the texts of a list, or the one that stands in its place. None, or one twice, is a problem.
func (d *document) values(node ast.Node) []value {
	var values []value
	items := d.items(node)
	if len(items) == 0 && node.Type() == ast.SequenceType {
		d.fail(node, "the list is empty")
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
