package parse

import (
	"errors"
	"strings"
)

// Linking turns the pieces of a format into a program: text that opens the line, then one step per variable, each of
// which reads its value and the text behind it.

// A program is what a format compiles to. It is immutable; all parsers of the format share it.
type program struct {
	open     string // stands at the start of each line
	noOpen   string // the reason of the Fault when it does not
	steps    []step
	lenient  bool // whether anything may follow the last step
	endStamp bool // whether the stamp is the end of the request, so that Start lies a request time before it
	apart    bool // whether method and path are fields of their own: a line with neither had no request
	pieced   bool // whether the stamp comes in the pieces of a layout
	overlaps bool // whether an extra field shares its bytes with a usual one
	head     bool // whether its first steps are those of the combined format (see head.go)
}

// errAdjacent says that two variables touch and nothing tells where one ends: the scanner cannot read such a format.
var errAdjacent = errors.New("two variables without text between them")

// link makes the program of pieces that choose has settled.
func link(pieces []piece, lenient bool) (*program, error) {
	prog := &program{lenient: lenient}
	prog.open, pieces = leadingText(pieces)
	prog.noOpen = missingText(prog.open) + " at the start of the line"
	core := lastCore(pieces)
	for i := 0; i < len(pieces); {
		p := &pieces[i]
		follow, next := leadingText(pieces[i+1:])
		if follow == "" {
			next = merge(p, next)
			if follow, next = leadingText(next); !p.bounded(follow, next) {
				return nil, errAdjacent
			}
		}
		s := newStep(p, follow, next)
		s.tail, s.last = lenient && i >= core, len(next) == 0
		s.relax()
		prog.add(s)
		i = len(pieces) - len(next)
	}
	prog.head = hasHead(prog)
	return prog, nil
}

// linkApart makes a program whose steps have no ends: another one cuts the lines.
func linkApart(pieces []piece) *program {
	prog := &program{}
	for i := range pieces {
		if p := &pieces[i]; p.variable() {
			follow, next := leadingText(pieces[i+1:])
			prog.add(newStep(p, follow, next))
		}
	}
	return prog
}

// add appends a step.
func (prog *program) add(s step) {
	prog.steps = append(prog.steps, s)
	prog.pieced = prog.pieced || s.use == useLayout && !s.idle
	prog.overlaps = prog.overlaps || s.extra >= 0 && s.use != useSkip && !s.use.measured()
}

// leadingText takes the literal text off the start of pieces.
func leadingText(pieces []piece) (string, []piece) {
	var text strings.Builder
	for len(pieces) > 0 && !pieces[0].variable() {
		text.WriteString(pieces[0].text)
		pieces = pieces[1:]
	}
	return text.String(), pieces
}

// lastCore is the place of the last variable that a line cannot do without; a lenient format takes lines that end
// behind it.
func lastCore(pieces []piece) (last int) {
	for i := range pieces {
		switch p := &pieces[i]; p.use {
		case useClient, useRequest, useMethod, usePath, useStatus, useBytes:
			last = i
		default:
			if p.use.stamp() && !p.idle {
				last = i
			}
		}
	}
	return last
}

// merge lets p take in the variables that touch it, where that loses nothing: a query goes on a path, and what is
// read over may as well be read over at once.
func merge(p *piece, next []piece) []piece {
	for len(next) > 0 && next[0].use == useSkip && next[0].extra < 0 {
		if p.use == useSkip && p.extra < 0 && !next[0].path || p.use == usePath && next[0].query {
			next = next[1:]
			continue
		}
		break
	}
	return next
}

// bounded reports whether the end of p's value can be found: something follows, or nothing at all, or the value knows
// its own width, or the next one begins with a slash.
func (p *piece) bounded(follow string, next []piece) bool {
	return follow != "" || len(next) == 0 || p.use.stamp() || next[0].path && !p.path && !p.use.measured()
}
