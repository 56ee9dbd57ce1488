package policy

import (
	"errors"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A configuration is read node by node rather than into structs, so that reading goes on after a mistake and every
// mistake is told with its place.

// A node is a piece of a document.
type node = ast.Node

// A document is a YAML file on its way to become a Config.
type document struct {
	name     string // what problems call it
	problems Problems
	further  int         // problems that are not kept
	cut      map[int]int // how many lines were taken out after a line
}

// parse is the top of the document, nil when it says nothing.
func (d *document) parse(text []byte) node {
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
	p, message := at.GetToken().Position, at.GetMessage()
	if message == "found an invalid key for this map" {
		message += " (between braces, a text that begins with a colon must stand in quotes)"
	}
	return Problem{d.name, p.Line, p.Column, message}
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
func (d *document) plain(at node) node {
	for {
		switch n := at.(type) {
		case *ast.AnchorNode:
			at = n.Value
		case *ast.TagNode:
			at = n.Value
		case *ast.AliasNode:
			d.fail(n, "a text that begins with * must stand in quotes; aliases are not read")
			return nil
		case *ast.NullNode:
			return nil
		default:
			return at
		}
	}
}
