package policy

import (
	"bytes"
	"errors"
	"slices"

	"shadow/internal/mapped"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// A Tree is a part of a document that is no configuration of ours: a mapping, a list or a text. A nil Tree is what is not
// there.
type Tree struct {
	Line  int
	Text  string
	Items []*Tree

	keys   []string
	fields map[string]*Tree
}

// NewTree is an empty mapping.
func NewTree(line int) *Tree { return &Tree{Line: line, fields: map[string]*Tree{}} }

// Set puts a part behind a key. What stands there already becomes a list with it, and a text a mapping.
func (t *Tree) Set(key string, part *Tree) {
	if t.fields == nil {
		t.fields = map[string]*Tree{}
	}
	before, ok := t.fields[key]
	switch {
	case !ok:
		t.keys, t.fields[key] = append(t.keys, key), part
	case before.Items == nil:
		t.fields[key] = &Tree{Line: before.Line, Items: []*Tree{before, part}}
	default:
		before.Items = append(before.Items, part)
	}
}

// Keys returns the keys of a mapping, in their order.
func (t *Tree) Keys() []string {
	if t == nil {
		return nil
	}
	return t.keys
}

// Get follows keys; nil if there is none.
func (t *Tree) Get(keys ...string) *Tree {
	for _, key := range keys {
		if t == nil {
			return nil
		}
		t = t.fields[key]
	}
	return t
}

// Say is the text behind keys; "" if there is none.
func (t *Tree) Say(keys ...string) string {
	if t = t.Get(keys...); t == nil {
		return ""
	}
	return t.Text
}

// List is a list behind keys, or what stands in its place.
func (t *Tree) List(keys ...string) []*Tree {
	t = t.Get(keys...)
	switch {
	case t == nil:
		return nil
	case t.Items != nil || t.fields == nil && t.Text == "":
		return t.Items
	}
	return []*Tree{t}
}

// Walk calls do with each part and the key that it stands behind, until do returns false for what it does not want to
// look into.
func (t *Tree) Walk(do func(key string, part *Tree) bool) { t.walk("", do, map[*Tree]bool{}) }

func (t *Tree) walk(key string, do func(string, *Tree) bool, seen map[*Tree]bool) {
	if t == nil || seen[t] || !do(key, t) {
		return
	}
	seen[t] = true
	for _, item := range t.Items {
		item.walk(key, do, seen)
	}
	for _, k := range t.keys {
		t.fields[k].walk(k, do, seen)
	}
}

// Trees reads YAML or JSON: one for each document.
func Trees(text []byte) (all []*Tree, err error) {
	if tooDeep(text) != nil {
		return nil, errors.New("nests too deep")
	}
	file, err := parser.ParseBytes(withoutEmpty(text), 0)
	if err != nil {
		return nil, err
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			all = append(all, treeOf(doc.Body, map[string]*Tree{}))
		}
	}
	return all, nil
}

// withoutEmpty blanks the line that begins an empty document before another one, at which the parser would end. Helm writes
// such documents, with a comment in each.
func withoutEmpty(text []byte) []byte {
	lines, begin := bytes.SplitAfter(text, []byte("\n")), -1
	for n, line := range lines {
		switch word := bytes.TrimSpace(line); {
		case bytes.HasPrefix(line, []byte("---")) && (len(word) == 3 || bytes.HasPrefix(bytes.TrimSpace(word[3:]), []byte("#"))):
			if begin >= 0 {
				lines[begin] = []byte("\n")
			}
			begin = n
		case len(word) > 0 && word[0] != '#':
			begin = -1
		}
	}
	return bytes.Join(lines, nil)
}

// Plain reads YAML as encoding/json would read the same in JSON.
func Plain(text []byte) (value any, err error) {
	err = yaml.Unmarshal(text, &value)
	return value, err
}

// treeOf is the part of a node. Aliases share what they stand for.
func treeOf(at node, anchors map[string]*Tree) *Tree {
	t := &Tree{Line: at.GetToken().Position.Line}
	switch n := at.(type) {
	case *ast.AnchorNode:
		t = treeOf(n.Value, anchors)
		anchors[n.Name.GetToken().Value] = t
	case *ast.AliasNode:
		if known := anchors[n.Value.GetToken().Value]; known != nil {
			return known
		}
	case *ast.TagNode:
		return treeOf(n.Value, anchors)
	case *ast.MappingNode:
		t.add(n.Values, anchors)
	case *ast.MappingValueNode:
		t.add([]*ast.MappingValueNode{n}, anchors)
	case *ast.SequenceNode:
		t.Items = []*Tree{}
		t.Items = mapped.Add(t.Items, n.Values, func(item ast.Node) *Tree { return treeOf(unsplit(item), anchors) })
	case *ast.NullNode:
	default:
		t.Text = textOf(at)
	}
	return t
}

func (t *Tree) add(entries []*ast.MappingValueNode, anchors map[string]*Tree) {
	t.fields = map[string]*Tree{}
	for _, e := range entries {
		t.Line = min(t.Line, e.Key.GetToken().Position.Line)
		part := treeOf(e.Value, anchors)
		if _, merge := e.Key.(*ast.MergeKeyNode); !merge {
			part.Line = entryLine(part, e)
			t.keys, t.fields[keyOf(e)] = append(t.keys, keyOf(e)), part
			continue
		}
		for _, from := range append(slices.Clip(part.Items), part) {
			for _, key := range from.keys {
				if t.fields[key] == nil {
					t.keys, t.fields[key] = append(t.keys, key), from.fields[key]
				}
			}
		}
	}
}

// entryLine returns the line where a part begins: at its key, unless an alias shares it.
func entryLine(part *Tree, e *ast.MappingValueNode) int {
	if _, shared := e.Value.(*ast.AliasNode); shared {
		return part.Line
	}
	return e.Key.GetToken().Position.Line
}
