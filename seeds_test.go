package shadow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A test takes its random input from testneeds, so that SHADOW_SEED changes it and a failure tells how to see it again.

// unseeded returns the uses of random values of a file, or of src if there is some, that testneeds does not know.
func unseeded(t *testing.T, path string, src any) (uses []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	random, properties := "", ""
	for _, spec := range file.Imports {
		switch imported, _ := strconv.Unquote(spec.Path.Value); imported {
		case "math/rand", "testing/quick":
			uses = append(uses, path+": "+imported)
		case "math/rand/v2":
			random = localName(spec, "rand")
		case "pgregory.net/rapid":
			properties = localName(spec, "rapid")
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		name := selector.Sel.Name
		if of.Name == random && !slices.Contains([]string{"Rand", "Source", "Zipf", "NewZipf"}, name) ||
			of.Name == properties && slices.Contains([]string{"Check", "MakeCheck"}, name) {
			uses = append(uses, files.Position(node.Pos()).String()+": "+of.Name+"."+name)
		}
		return true
	})
	return uses
}

// localName returns the name by which a file knows a package.
func localName(spec *ast.ImportSpec, usual string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return usual
}

func TestSeeds(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path == "testneeds" {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, use := range unseeded(t, path, nil) {
				t.Errorf("%s: take it from testneeds, which knows SHADOW_SEED", use)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The rule sees each way to get random values.
func TestSeedsAreMissed(t *testing.T) {
	const src = `package p
import (
	_ "math/rand"
	dice "math/rand/v2"
	"pgregory.net/rapid"
)
func f(r *dice.Rand, t *rapid.T) {
	dice.New(nil); dice.IntN(3); dice.NewZipf(r, 2, 2, 2)
	rapid.Check(nil, nil); rapid.Bool()
}`
	want := []string{"p.go: math/rand", "p.go:8:2: dice.New", "p.go:8:17: dice.IntN", "p.go:9:2: rapid.Check"}
	if got := unseeded(t, "p.go", src); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
