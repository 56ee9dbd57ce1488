// Package remainder takes an expression and the beginning of a text, and returns an expression for the rest of the text.
package remainder

import (
	"regexp"
	"regexp/syntax"
	"slices"
)

// The remainder of an expression behind a character is its derivative.
// Source: J. A. Brzozowski, Derivatives of Regular Expressions, Journal of the ACM 11 (4), 1964.

// Nothing fits no text.
const Nothing = `[^\x{0}-\x{10FFFF}]`

// A Remainder is left of an expression behind the beginning of a text: the rest of the text must fit it. Its zero value fits
// nothing.
type Remainder struct {
	tree *syntax.Regexp // nil: nothing fits
	open bool           // whether anything may follow
}

var (
	emptyMatch = &syntax.Regexp{Op: syntax.OpEmptyMatch}
	anything   = &syntax.Regexp{Op: syntax.OpStar, Sub: []*syntax.Regexp{{Op: syntax.OpAnyChar}}}
)

// Of returns the remainder of an expression behind nothing; false if it is none, or has anchors inside.
func Of(expression string) (r Remainder, ok bool) {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return r, false
	}
	re = re.Simplify()
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = slices.Clone(re.Sub)
	}
	r.open = true
	if parts[0].Op == syntax.OpBeginText {
		parts = parts[1:]
	} else {
		parts = append([]*syntax.Regexp{anything}, parts...)
	}
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		parts, r.open = parts[:n-1], false
	}
	r.tree = concat(parts...)
	return r, !slices.ContainsFunc(parts, anchored)
}

func anchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, anchored)
}

// Behind returns the remainder behind more of the text.
func (r Remainder) Behind(text string) Remainder {
	for _, c := range text {
		switch {
		case r.tree == nil:
			return r
		case r.open && nullable(r.tree):
			return Remainder{emptyMatch, true}
		}
		r.tree = derivative(r.tree, c)
	}
	return r
}

// Pattern returns the remainder as an expression for the rest: "" if any rest fits, Nothing if none does.
func (r Remainder) Pattern() string {
	switch {
	case r.tree == nil:
		return Nothing
	case r.open && nullable(r.tree):
		return ""
	case r.open:
		return "^" + r.tree.String()
	}
	return "^" + r.tree.String() + "$"
}

func concat(parts ...*syntax.Regexp) *syntax.Regexp {
	if slices.Contains(parts, nil) {
		return nil
	}
	parts = slices.DeleteFunc(slices.Clone(parts), func(p *syntax.Regexp) bool { return p.Op == syntax.OpEmptyMatch })
	switch len(parts) {
	case 0:
		return emptyMatch
	case 1:
		return parts[0]
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: parts}
}

func alternate(parts ...*syntax.Regexp) *syntax.Regexp {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p *syntax.Regexp) bool { return p == nil })
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return &syntax.Regexp{Op: syntax.OpAlternate, Sub: parts}
}

// nullable reports whether an expression fits the empty text.
func nullable(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return nullable(re.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !nullable(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, nullable)
	}
	return false
}

// derivative returns what must follow a character so that both together fit; nil if nothing can.
func derivative(re *syntax.Regexp, c rune) *syntax.Regexp {
	switch re.Op {
	case syntax.OpLiteral:
		one := &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: re.Rune[:1]}
		if !fits(one, c) {
			return nil
		}
		if len(re.Rune) == 1 {
			return emptyMatch
		}
		return &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: re.Rune[1:]}
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if fits(re, c) {
			return emptyMatch
		}
	case syntax.OpCapture, syntax.OpQuest:
		return derivative(re.Sub[0], c)
	case syntax.OpStar:
		return concat(derivative(re.Sub[0], c), re)
	case syntax.OpPlus:
		return concat(derivative(re.Sub[0], c), &syntax.Regexp{Op: syntax.OpStar, Sub: re.Sub})
	case syntax.OpAlternate:
		var all []*syntax.Regexp
		for _, s := range re.Sub {
			all = append(all, derivative(s, c))
		}
		return alternate(all...)
	case syntax.OpConcat:
		all := []*syntax.Regexp{concat(append([]*syntax.Regexp{derivative(re.Sub[0], c)}, re.Sub[1:]...)...)}
		if nullable(re.Sub[0]) {
			all = append(all, derivative(concat(re.Sub[1:]...), c))
		}
		return alternate(all...)
	}
	return nil
}

// fits reports whether an expression for one character fits it.
func fits(re *syntax.Regexp, c rune) bool {
	return regexp.MustCompile("^(?:" + re.String() + ")$").MatchString(string(c))
}
