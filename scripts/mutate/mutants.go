//go:build unix

package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir      string
	GoFiles, CgoFiles    []string
	Imports, TestImports []string
	XTestImports, Deps   []string

	importers []string // the packages whose code or tests import it, those that need the fewest others first
}

// load lists the packages, and for each of them who imports it.
func load(patterns []string) ([]pkg, error) {
	if len(patterns) == 0 {
		return nil, errors.New("name the packages: go run ./scripts/mutate ./limit ./bucket")
	}
	wanted, err := list(patterns)
	if err != nil {
		return nil, err
	}
	all, err := list([]string{"./..."})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b pkg) int { return cmp.Compare(len(a.Deps), len(b.Deps)) })
	for i := range wanted {
		for _, other := range all {
			if slices.Contains(slices.Concat(other.Imports, other.TestImports, other.XTestImports), wanted[i].ImportPath) &&
				other.ImportPath != wanted[i].ImportPath {
				wanted[i].importers = append(wanted[i].importers, other.ImportPath)
			}
		}
	}
	return wanted, nil
}

func list(patterns []string) ([]pkg, error) {
	out, err := exec.Command("go", append([]string{"list", "-json"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []pkg
	for in := json.NewDecoder(bytes.NewReader(out)); in.More(); {
		var p pkg
		if err := in.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// A mutant is one change of one file: what stands from begin to end becomes text.
type mutant struct {
	pkg       *pkg
	begin     token.Position
	end       int // byte
	was, text string
	around    string // its line
	ticket    [sha256.Size]byte
}

func (m mutant) place() string {
	at := m.begin
	if folder, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(folder, at.Filename); err == nil {
			at.Filename = relative
		}
	}
	return at.String()
}

func (m mutant) String() string {
	return fmt.Sprintf("%s  %s  →  %s", m.place(), brief(m.was), brief(m.text))
}

// brief shortens code to one line.
func brief(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	if code == "" {
		return "nothing"
	}
	if runes := []rune(code); len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return code
}

// swaps are the operators that people confuse.
var swaps = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*", token.LAND: "||", token.LOR: "&&",
	token.SHL: ">>", token.SHR: "<<", token.AND: "|", token.OR: "&", token.XOR: "&", token.AND_NOT: "&",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
	token.OR_ASSIGN: "&=", token.AND_ASSIGN: "|=", token.INC: "--", token.DEC: "++",
}

func (p *pkg) mutants() ([]mutant, error) {
	var all []mutant
	for _, name := range p.GoFiles {
		file := filepath.Join(p.Dir, name)
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, file, source, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(tree) {
			continue
		}
		v := visitor{pkg: p, source: source, files: files}
		ast.Inspect(tree, v.visit)
		all = append(all, v.found...)
	}
	return all, nil
}

// draw orders the mutants by chance. The place of one depends on the seed, its file's name, the text of its line and how
// often the file has the same mutant before it, but not on other mutants.
func draw(mutants []mutant, seed uint64) []mutant {
	before := map[string]int{}
	for i := range mutants {
		m := &mutants[i]
		what := fmt.Sprintf("%s/%s\n%s\n%s\n%s", m.pkg.ImportPath, filepath.Base(m.begin.Filename), m.around, m.was, m.text)
		before[what]++
		m.ticket = sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%d", seed, what, before[what]))
	}
	slices.SortFunc(mutants, func(a, b mutant) int { return bytes.Compare(a.ticket[:], b.ticket[:]) })
	return mutants
}

// A visitor collects the mutants of a file. Numbers from 100 up are left alone: they are sizes and patience, which no
// test can tell from their neighbours.
type visitor struct {
	pkg    *pkg
	source []byte
	files  *token.FileSet
	found  []mutant
}

// add adds a mutant; %s in the text stands for what was there.
func (v *visitor) add(begin, end token.Pos, text string) {
	from, to := v.files.Position(begin), v.files.Position(end)
	was := string(v.source[from.Offset:to.Offset])
	line, _, _ := bytes.Cut(v.source[from.Offset-from.Column+1:], []byte("\n"))
	v.found = append(v.found, mutant{
		pkg: v.pkg, begin: from, end: to.Offset, was: was, text: strings.ReplaceAll(text, "%s", was),
		around: string(bytes.TrimSpace(line)),
	})
}

func (v *visitor) operator(pos token.Pos, operator token.Token) {
	if other, ok := swaps[operator]; ok {
		v.add(pos, pos+token.Pos(len(operator.String())), other)
	}
}

// visit adds the mutants of a node and reports whether those below it count as well.
func (v *visitor) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.ImportSpec, *ast.ArrayType, *ast.Field:
		return false
	case *ast.CallExpr:
		if name, ok := node.Fun.(*ast.Ident); ok && (name.Name == "make" || name.Name == "panic") {
			return false // sizes that are only hints, and what cannot happen
		}
	case *ast.ReturnStmt:
		if err := newError(node); err != nil { // what is returned beside it means nothing
			ast.Inspect(err, v.visit)
			return false
		}
	case *ast.BinaryExpr:
		v.operator(node.OpPos, node.Op)
	case *ast.IncDecStmt:
		v.operator(node.TokPos, node.Tok)
		v.add(node.Pos(), node.End(), "")
	case *ast.AssignStmt:
		v.operator(node.TokPos, node.Tok)
		if node.Tok != token.DEFINE {
			v.add(node.Pos(), node.End(), "")
		}
	case *ast.ExprStmt:
		v.add(node.Pos(), node.End(), "")
	case *ast.IfStmt:
		v.add(node.Cond.Pos(), node.Cond.End(), "!(%s)")
	case *ast.ForStmt:
		if node.Post != nil {
			return v.loop(node)
		}
	case *ast.BranchStmt:
		if node.Label == nil && node.Tok == token.CONTINUE {
			v.add(node.Pos(), node.End(), "break")
		}
	case *ast.Ident:
		switch node.Name {
		case "true":
			v.add(node.Pos(), node.End(), "false")
		case "false":
			v.add(node.Pos(), node.End(), "true")
		}
	case *ast.BasicLit:
		if number, err := strconv.ParseInt(node.Value, 0, 62); node.Kind == token.INT && err == nil && number < 100 {
			v.add(node.Pos(), node.End(), strconv.FormatInt(number+1, 10))
		}
	}
	return true
}

// newError returns the error that a statement makes and returns beside something else, or nil.
func newError(node *ast.ReturnStmt) ast.Expr {
	if len(node.Results) < 2 {
		return nil
	}
	last := node.Results[len(node.Results)-1]
	if call, ok := last.(*ast.CallExpr); ok {
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Errorf" || f.Sel.Name == "New") {
			return last
		}
	}
	return nil
}

// loop leaves the step of a loop alone, without which it only never ends.
func (v *visitor) loop(loop *ast.ForStmt) bool {
	if loop.Init != nil {
		ast.Inspect(loop.Init, v.visit)
	}
	if loop.Cond != nil {
		ast.Inspect(loop.Cond, v.visit)
	}
	ast.Inspect(loop.Body, v.visit)
	return false
}
