package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is a mistake in a configuration.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 when it is about the whole file
	Text         string
}

// String is the problem on one line, with its place in front.
func (p Problem) String() string {
	switch {
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems are the mistakes of a configuration: those of the file itself in their order, then those of other files.
type Problems []Problem

// Error is the problems, one on each line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
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
