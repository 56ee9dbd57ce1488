package parse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Compiling goes from the text of a server's configuration to a Format in four moves:
//
//	text → pieces        nginx.go, apache.go   what the dialect means
//	pieces → choice      choose.go             which variable feeds which field
//	choice → program     link.go               where each value ends
//	program → Parser     scan.go               bytes to records
//
// What link.go cannot express goes to gonx (gonx.go).

// Compile compiles an nginx log_format or an Apache LogFormat; the first "$name" or "%letter" tells which it is. What
// people paste along with it (\" and \t of a quoted string) is undone.
//
// A variable that feeds no field is read over, unless w.Extra names it.
func Compile(text string, w Wants) (*Format, error) {
	return CompileAs(text, w, "custom", false)
}

// CompileAs compiles a format under a name. Lines of a lenient one may end behind the last of its time, client, request,
// status and bytes, or after any later field, or go on with a space and further text.
func CompileAs(text string, w Wants, name string, lenient bool) (*Format, error) {
	f, err := build(text, w, lenient)
	if err != nil {
		return nil, fmt.Errorf("parse: format %q: %w", text, err)
	}
	f.Name, f.Text = name, text
	return f, nil
}

func build(text string, w Wants, lenient bool) (*Format, error) {
	pieces, isNginx, err := takeApart(Unquote(text))
	if err != nil {
		return nil, err
	}
	if err := nameExtras(pieces, w.Extra); err != nil {
		return nil, err
	}
	if err := misspelt(pieces, isNginx); err != nil {
		return nil, err
	}
	if err := choose(pieces); err != nil {
		return nil, err
	}
	prog, parser, err := connect(pieces, w, lenient)
	if err != nil {
		return nil, err
	}
	prog.endStamp = isNginx || stampsEnd(pieces)
	prog.apart = feeds(pieces, useMethod) && feeds(pieces, usePath)
	return newFormat(pieces, parser), nil
}

// connect makes the parser: a scanner, or gonx where the scanner cannot express the format or gonx is wanted.
func connect(pieces []piece, w Wants, lenient bool) (*program, func() Parser, error) {
	prog, err := link(pieces, lenient)
	if err == nil && !w.Gonx {
		return prog, func() Parser { return &scanner{newReader(prog, w)} }, nil
	}
	prog = linkApart(pieces)
	cuts, err := newGonxCuts(pieces, lenient)
	return prog, func() Parser { return &gonxParser{newReader(prog, w), cuts} }, err
}

func newReader(prog *program, w Wants) reader {
	return reader{prog: prog, clock: clock{zone: w.Zone}}
}

// Unquote undoes the escapes of the configuration's quoted strings.
func Unquote(text string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\t`, "\t").Replace(text)
}

// takeApart decides on the dialect.
func takeApart(text string) (pieces []piece, isNginx bool, err error) {
	if strings.ContainsAny(text, "\n\r") {
		return nil, false, errors.New("it has more than one line")
	}
	dollar, percent := strings.IndexByte(text, '$'), strings.IndexByte(text, '%')
	switch {
	case dollar < 0 && percent < 0:
		return nil, false, errors.New("neither $variables of nginx nor %directives of Apache in it")
	case percent < 0, dollar >= 0 && dollar < percent:
		pieces, err = nginxPieces(text)
		return pieces, true, err
	}
	pieces, err = apachePieces(text)
	return pieces, false, err
}

// stampsEnd reports whether the stamp that was chosen is of the end of the request.
func stampsEnd(pieces []piece) bool {
	for i := range pieces {
		if p := &pieces[i]; p.use.stamp() && !p.idle && p.end {
			return true
		}
	}
	return false
}

// feeds reports whether some piece has a use.
func feeds(pieces []piece, u use) bool {
	return slices.ContainsFunc(pieces, func(p piece) bool { return p.use == u })
}

// newFormat tells what the pieces of a format feed.
func newFormat(pieces []piece, parser func() Parser) *Format {
	f := &Format{parser: parser}
	for i := range pieces {
		p := &pieces[i]
		if p.variable() && p.use != useSkip {
			f.fields[kinds[p.use].feeds] = true
		}
		if p.use == useRequest {
			f.fields[FieldPath] = true
		}
		if p.extra >= 0 && p.variable() {
			f.extra[p.extra] = true
		}
	}
	return f
}
