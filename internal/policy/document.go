package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
)

// A configuration is parsed into a tree of nodes. The tree is checked against the schema as a whole, so that every
// mistake is reported with its place. What does not fit the schema leaves the tree; the rest is decoded, and checked
// further.

// A node is a part of the tree.
type node = ast.Node

// A document is a YAML file on its way to become a Config.
type document struct {
	name     string // what problems call it
	problems Problems
	further  int         // problems that are not kept
	cut      map[int]int // how many lines were taken out after a line

	// damaged has mappings and lists that lost what had a problem, and those around them: where they began.
	damaged map[node]*token.Position
}

// parse returns the tree, nil when the document is empty.
func (d *document) parse(text []byte) node {
	if deep := tooDeep(text); deep != nil {
		d.add(Problem{d.name, d.line(deep.Position.Line), deep.Position.Column, "nests too deep"})
		return nil
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) // else the parser counts each line of comments twice
	file, err := parser.ParseBytes(text, 0)
	switch {
	case err != nil:
		d.add(d.syntax(err))
	case len(file.Docs) > 1:
		d.add(Problem{File: d.name, Text: "holds more than one document; want one"})
	case len(file.Docs) == 1 && file.Docs[0].Body != nil:
		return file.Docs[0].Body
	}
	return nil
}

// syntax returns the complaint of the parser as a Problem.
func (d *document) syntax(err error) Problem {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return Problem{File: d.name, Text: err.Error()}
	}
	p, message := at.GetToken().Position, at.GetMessage()
	if message == "found an invalid key for this map" {
		message += " (between braces, a text that begins with a colon must stand in quotes)"
	}
	return Problem{d.name, d.line(p.Line), p.Column, message}
}

// maxDepth is the depth to which lists and brackets may nest. The parser takes memory with the square of that, 15 GB
// for 100 kB of dashes; a configuration needs few.
const maxDepth = 50

// tooDeep returns the place where a text nests too deep, or nil. A dash is nested no deeper than its column says; a
// mapping without brackets takes a line with a larger indent for each level, so a short one cannot be deep.
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

// value returns what the schema is to see of a node: a mapping, a list, a text, an int64, or nil; ok is false where
// that cannot be said. Anchors, tags and aliases leave the tree. Aliases are not read: most asterisks at the beginning
// of a text are patterns that lack their quotes.
func (d *document) value(at *node) (value any, ok bool) {
	switch n := (*at).(type) {
	case *ast.AnchorNode:
		*at = n.Value
		return d.value(at)
	case *ast.TagNode:
		*at = n.Value
		return d.value(at)
	case *ast.AliasNode:
		d.fail(n, "a text that begins with * must stand in quotes; aliases are not read")
		return nil, false
	case nil, *ast.NullNode:
		return nil, true
	case *ast.MappingNode:
		values := map[string]any{}
		n.Values = keep(d, n, n.Values, func(entry **ast.MappingValueNode) bool {
			value, ok := d.value(&(*entry).Value)
			if ok {
				values[keyOf(*entry)] = value
			}
			return ok
		})
		return values, true
	case *ast.SequenceNode:
		values := []any{}
		n.Values = keep(d, n, n.Values, func(item *node) bool {
			*item = unsplit(*item)
			value, ok := d.value(item)
			if n, isNumber := value.(int64); isNumber {
				value = strconv.FormatInt(n, 10) // 401 and "401" are one value
			}
			if ok {
				values = append(values, value)
			}
			return ok
		})
		return values, true
	case *ast.IntegerNode:
		text := n.GetToken().Value
		if number, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(number, 10) == text {
			return number, true
		}
		return text, true
	}
	return textOf(*at), true
}

// keep returns the entries of a mapping or a list that are ok, and notes where some are lost.
func keep[E any](d *document, at node, entries []E, ok func(*E) bool) (kept []E) {
	begun := d.beginning(at)
	for i := range entries {
		if ok(&entries[i]) {
			kept = append(kept, entries[i])
		}
	}
	if len(kept) < len(entries) {
		d.damaged[at] = begun
	}
	return kept
}

// prune takes bad entries out of the tree, and reports whether the tree is as it was written.
func (d *document) prune(at node, bad map[node]bool) bool {
	whole := true
	child := func(entry, value node) bool {
		whole = d.prune(value, bad) && whole
		return !bad[entry] && !bad[value]
	}
	switch n := at.(type) {
	case *ast.MappingNode:
		n.Values = keep(d, at, n.Values, func(e **ast.MappingValueNode) bool { return child(*e, (*e).Value) })
	case *ast.SequenceNode:
		n.Values = keep(d, at, n.Values, func(item *node) bool { return child(*item, *item) })
	}
	if !whole {
		d.damaged[at] = d.beginning(at)
	}
	return d.damaged[at] == nil
}

// unsplit returns the text that the parser took for a mapping, or the node itself. A colon without a blank behind it is
// part of a text. The parser forgets that in a list within braces: what it makes of {limits: [token:5/m]} is a list of
// the mapping from token to 5/m.
func unsplit(at node) node {
	m, ok := at.(*ast.MappingNode)
	if !ok || m.IsFlowStyle || len(m.Values) != 1 {
		return at
	}
	key, colon, value := m.Values[0].Key.GetToken(), m.Values[0].Start, m.Values[0].Value.GetToken()
	quoted := key.Type == token.SingleQuoteType || key.Type == token.DoubleQuoteType
	if quoted || colon.Position.Line != value.Position.Line || value.Position.Offset != colon.Position.Offset+1 {
		return at
	}
	text := strings.TrimSpace(key.Origin) + ":" + strings.TrimSpace(value.Origin)
	return ast.String(&token.Token{Type: token.StringType, Value: text, Origin: text, Position: key.Position})
}

func keyOf(entry *ast.MappingValueNode) string { return entry.Key.GetToken().Value }

// textOf is the text of a node that is no mapping and no list. Numbers, and words such as true, are as written.
func textOf(at node) string {
	switch n := at.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	return at.GetToken().Value
}

// find follows a path of keys and indices. If it ends at the value of a key, entry is where that stands.
func find(at node, path []string) (found node, entry *ast.MappingValueNode) {
	for _, step := range path {
		entry = nil
		switch n := at.(type) {
		case *ast.MappingNode:
			i := slices.IndexFunc(n.Values, func(e *ast.MappingValueNode) bool { return keyOf(e) == step })
			if i < 0 {
				return nil, nil
			}
			entry = n.Values[i]
			at = entry.Value
		case *ast.SequenceNode:
			i, _ := strconv.Atoi(step)
			at = n.Values[i]
		}
	}
	return at, entry
}

// beginning returns where a node begins: a mapping without braces at its first key.
func (d *document) beginning(at node) *token.Position {
	if begun := d.damaged[at]; begun != nil {
		return begun
	}
	if m, ok := at.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		at = m.Values[0].Key
	}
	return at.GetToken().Position
}

// line is the line of the file that a line of the text was, from which cutBulk may have taken others.
func (d *document) line(short int) int {
	n := short
	for after, lines := range d.cut {
		if after < short {
			n += lines
		}
	}
	return n
}

// fail notes a problem at a node.
func (d *document) fail(at node, format string, args ...any) {
	p := d.beginning(at)
	d.add(Problem{d.name, d.line(p.Line), p.Column, fmt.Sprintf(format, args...)})
}

// A located value knows where it stands; at is nil where there is none.
type located[T any] struct {
	value T
	at    node
}

// UnmarshalYAML decodes strictly.
func (l *located[T]) UnmarshalYAML(at node) error {
	l.at = at
	return yaml.NodeToValue(at, &l.value, yaml.Strict())
}

// An ordered mapping keeps the order of its keys.
type ordered[T any] []struct {
	name string
	located[T]
}

// UnmarshalYAML decodes a mapping; what is none is empty.
func (o *ordered[T]) UnmarshalYAML(at node) error {
	m, ok := at.(*ast.MappingNode)
	if !ok {
		return nil
	}
	*o = make(ordered[T], len(m.Values))
	for i, entry := range m.Values {
		(*o)[i].name = keyOf(entry)
		if err := (*o)[i].located.UnmarshalYAML(entry.Value); err != nil {
			return err
		}
	}
	return nil
}

// A list may be written as its one item.
type list[T any] []located[T]

// UnmarshalYAML decodes a list, or the one item that stands in its place.
func (l *list[T]) UnmarshalYAML(at node) error {
	items := []node{at}
	switch n := at.(type) {
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		items = n.Values
	}
	*l = make(list[T], len(items))
	for i, item := range items {
		if err := (*l)[i].UnmarshalYAML(item); err != nil {
			return err
		}
	}
	return nil
}

// A text is a string, or a number or word as written.
type text string

// UnmarshalYAML takes what is written.
func (t *text) UnmarshalYAML(at node) error {
	*t = text(textOf(at))
	return nil
}

// A Problem is a mistake in a configuration.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 when it is about the whole file
	Text         string
}

// String is the problem on one line, with its place in front.
func (p Problem) String() string { return p.place() + ": " + p.Text }

func (p Problem) place() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problems are the mistakes of a configuration: those of the file itself in their order, then those of other files.
type Problems []Problem

// Error is the problems, one on each line.
func (p Problems) Error() string {
	return strings.Join(mapped.Of(p, Problem.String), "\n")
}

// maxProblems are shown of a configuration; the others are counted.
const maxProblems = 50

func (d *document) add(p Problem) {
	if len(d.problems) == maxProblems {
		d.further++
		return
	}
	d.problems = append(d.problems, p)
}

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

var plainText = lazy.Regexp(`^[/A-Za-z][A-Za-z0-9/._~-]*[A-Za-z0-9/._~-]$|^/$`)

// Quoted returns a text as a configuration has it, between braces too.
func Quoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off":
	default:
		if plainText().MatchString(text) {
			return text
		}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) { // a line feed would become a blank
		return strconv.QuoteToASCII(text)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
