package policy

import (
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"shadow/contrib"
	"shadow/internal/mapped"
)

// The schema in contrib says what a configuration may look like, to editors and here, and what to say where it does
// not: "title" is what something is called, "errorMessage" follows the value that does not fit, and "examples" have
// what is missing.

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// schemaNodes is the schema as a tree, which keeps the order of its properties.
var schemaNodes = sync.OnceValue(func() node {
	file, err := parser.ParseBytes(contrib.Schema, 0)
	if err != nil {
		panic(err) // it is embedded, and tested
	}
	return file.Docs[0].Body
})

// schemaAt returns the part of the schema at a path, behind references.
func schemaAt(path ...string) node {
	at, _ := find(schemaNodes(), path)
	return behind(at)
}

// behind returns a part of the schema, or what it refers to.
func behind(schema node) node {
	if ref := said(schema, "$ref"); ref != "" {
		return schemaAt(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return schema
}

// said is the text at a path in the schema, "" if there is none.
func said(at node, path ...string) string {
	if found, _ := find(at, path); found != nil {
		return textOf(found)
	}
	return ""
}

// keysOf are the properties of an object, in the order of the schema.
func keysOf(schema node) (keys []string) {
	if properties, _ := find(schema, []string{"properties"}); properties != nil {
		keys = mapped.Add(keys, properties.(*ast.MappingNode).Values, keyOf)
	}
	return keys
}
