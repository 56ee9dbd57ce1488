package match

import (
	"errors"
	"strings"

	"shadow/internal/traffic/intern"
)

// A Glob is a pattern for a whole text, in which
//
//	?     stands for one byte other than "/"
//	*     stands for any number of bytes other than "/"
//	**    stands for any number of bytes
//	/**/  stands for "/", or two of them with anything between: /**/search fits /search and /de/shop/search
//
// and everything else for itself. There is nothing to escape with: no path needs it.
type Glob struct {
	pattern []byte // with anyDirs for **/ behind a /, anyRun for **, oneRun for * and oneByte for ?
	fold    bool   // whether ASCII letters fit in either case
}

// The wildcards are bytes that UTF-8 never uses, so a pattern may hold any text.
const (
	anyDirs = 0xFC
	oneByte = 0xFD
	oneRun  = 0xFE
	anyRun  = 0xFF
)

var (
	wildcards     = strings.NewReplacer("/**/", "/\xFC", "**", "\xFF", "*", "\xFE", "?", "\xFD")
	textWildcards = strings.NewReplacer("*", "\xFF", "?", "\xFD")
)

var errGlob = errors.New("a pattern must be valid UTF-8")

// NewGlob compiles a pattern for paths.
func NewGlob(s string) (Glob, error) {
	if strings.ToValidUTF8(s, "") != s {
		return Glob{}, errGlob
	}
	return Glob{pattern: []byte(wildcards.Replace(s))}, nil
}

// newTextGlob compiles a pattern for texts in which "/" is nothing special, in either case. A pattern without
// wildcards fits wherever it occurs.
func newTextGlob(s string) (Glob, error) {
	if strings.ToValidUTF8(s, "") != s {
		return Glob{}, errGlob
	}
	if !strings.ContainsAny(s, "*?") {
		s = "*" + s + "*"
	}
	return Glob{pattern: []byte(textWildcards.Replace(string(intern.LowerASCII(nil, []byte(s))))), fold: true}, nil
}

// fits matches in one pass with two places to return to. When the pattern fails, the last * takes one more byte; if
// it cannot, the last ** does, or the last /**/ takes all up to the next "/". Earlier wildcards need not be tried
// again: whatever they gave up, a later one can take.
func (g *Glob) fits(text []byte) bool {
	p := g.pattern
	var i, j int // in p, in text
	run, any := mark{i: -1}, mark{i: -1}
	for i < len(p) || j < len(text) {
		switch {
		case i < len(p) && (p[i] == anyRun || p[i] == anyDirs):
			i++
			any, run.i = mark{i, j}, -1
		case i < len(p) && p[i] == oneRun:
			i++
			run = mark{i, j}
		case i < len(p) && j < len(text) && g.fitsByte(p[i], text[j]):
			i, j = i+1, j+1
		case run.i >= 0 && run.j < len(text) && text[run.j] != '/':
			run.j++
			i, j = run.i, run.j
		case any.i >= 0 && any.j < len(text):
			any.j++
			if p[any.i-1] == anyDirs && text[any.j-1] != '/' {
				continue
			}
			i, j, run.i = any.i, any.j, -1
		default:
			return false
		}
	}
	return true
}

// A mark says where matching goes on after a wildcard: with pattern[i:] at text[j:].
type mark struct{ i, j int }

func (g *Glob) fitsByte(want, c byte) bool {
	if want == oneByte {
		return g.fold || c != '/'
	}
	if g.fold && c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return want == c
}
