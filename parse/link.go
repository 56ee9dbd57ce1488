package parse

import (
	"errors"
	"strings"
)

// Linking turns the tokens of a format into a program: text that opens the line, then one step per variable, each of
// which reads its value and the text behind it.

// A program is what a format compiles to. It is immutable; all parsers of the format share it.
type program struct {
	open     string // stands at the start of each line
	noOpen   string // the reason of the Fault when it does not
	steps    []step
	lenient  bool // whether anything may follow the last step
	endStamp bool // whether the stamp is the end of the request, so that Start lies a request time before it
	apart    bool // whether method and path are fields of their own: a line with neither had no request
	timeless bool // whether there is no timestamp
	pieced   bool // whether the timestamp is put together from parts
	twins    []twin
	overlaps bool // whether an extra field shares its bytes with a usual one
	head     bool // whether its first steps are those of the combined format (see head.go)
}

// errAdjacent says that two variables touch, so that the end of the first is unknown: the scanner cannot read such a
// format.
var errAdjacent = errors.New("two variables without text between them")

// link makes the program of tokens that choose has settled.
func link(tokens []token, lenient bool) (*program, error) {
	prog := &program{lenient: lenient}
	prog.open, tokens = leadingText(tokens)
	prog.noOpen = missingText(prog.open) + " at the start of the line"
	core := lastCore(tokens)
	for i := 0; i < len(tokens); {
		p := &tokens[i]
		follow, next := leadingText(tokens[i+1:])
		if follow == "" {
			next = merge(p, next)
			if follow, next = leadingText(next); !p.bounded(follow, next) {
				return nil, errAdjacent
			}
		}
		s := newStep(p, follow, next)
		s.tail, s.last = lenient && i >= core, len(next) == 0
		if s.last && s.tail && s.span == spanRest { // the last value of a lenient format ends at a space
			s.span, s.stop = spanWord, ' '
		}
		prog.add(s)
		i = len(tokens) - len(next)
	}
	prog.head = hasHead(prog)
	return prog, nil
}

// linkApart makes a program whose steps have no ends: another one cuts the lines.
func linkApart(tokens []token) *program {
	prog := &program{}
	for i := range tokens {
		if p := &tokens[i]; p.variable() {
			follow, next := leadingText(tokens[i+1:])
			prog.add(newStep(p, follow, next))
		}
	}
	return prog
}

// add appends a step.
func (prog *program) add(s step) {
	prog.steps = append(prog.steps, s)
	prog.pieced = prog.pieced || s.kind == kindStrptime && !s.idle
	prog.overlaps = prog.overlaps || s.extra >= 0 && s.kind != kindSkip && !s.kind.measured()
}

// leadingText takes the literal text off the start of tokens.
func leadingText(tokens []token) (string, []token) {
	var text strings.Builder
	for len(tokens) > 0 && !tokens[0].variable() {
		text.WriteString(tokens[0].text)
		tokens = tokens[1:]
	}
	return text.String(), tokens
}

// lastCore is the place of the last variable that a line cannot do without; a lenient format takes lines that end
// behind it.
func lastCore(tokens []token) (last int) {
	for i := range tokens {
		switch p := &tokens[i]; p.kind {
		case kindClient, kindRequest, kindMethod, kindPath, kindStatus, kindBytes:
			last = i
		default:
			if p.kind.stamp() && !p.idle {
				last = i
			}
		}
	}
	return last
}

// merge lets p take in the variables that touch it, where that loses nothing: a query goes on a path, and what is
// read over may as well be read over at once.
func merge(p *token, next []token) []token {
	for len(next) > 0 && next[0].extra < 0 {
		skipped := next[0].kind == kindSkip
		goesOn := next[0].query && (skipped || next[0].kind == kindQuery) && (p.kind == kindPath || p.kind == kindQuery)
		if !goesOn && !(skipped && p.kind == kindSkip && p.extra < 0 && !next[0].path) {
			break
		}
		next = next[1:]
	}
	return next
}

// bounded reports whether the end of p's value can be found: something follows, or nothing at all, or the value knows
// its own width, or the next one begins with a slash.
func (p *token) bounded(follow string, next []token) bool {
	return follow != "" || len(next) == 0 || p.kind.stamp() || next[0].path && !p.path && !p.kind.measured()
}
