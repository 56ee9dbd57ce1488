package parse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Compiling goes from the text of a server's configuration to a Format in four moves:
//
//	text → tokens        nginx.go, apache.go   what the dialect means
//	tokens → choice      choose.go             which variable feeds which field
//	choice → program     link.go               where each value ends
//	program → Parser     scan.go               bytes to records
//
// What link.go cannot express goes to gonx (gonx.go).

// Compile compiles an nginx log_format or an Apache LogFormat; the first "$name" or "%letter" decides which it is. What
// people paste along with it (\" and \t of a quoted string) is undone.
//
// A variable that feeds no field is read over, unless o.Extra names it.
func Compile(text string, o Options) (*Format, error) {
	return compile(text, o, "custom", false, misspelt)
}

// CompileAs compiles a format of this project under a name: one in which no variable is misspelt. Lines of a lenient one
// may end behind the last of its time, client, request, status and bytes, or after any later field, or go on with a space
// and further text.
func CompileAs(text string, o Options, name string, lenient bool) (*Format, error) {
	return compile(text, o, name, lenient, func([]token, bool) error { return nil })
}

// A check is what is verified of the tokens of a format, which may be nginx's.
type check func(tokens []token, isNginx bool) error

func compile(text string, o Options, name string, lenient bool, verify check) (*Format, error) {
	f, err := build(text, o, lenient, verify)
	if err != nil {
		return nil, fmt.Errorf("parse: format %q: %w", text, err)
	}
	f.Name, f.Text, f.zone = name, text, o.Zone
	return f, nil
}

func build(text string, o Options, lenient bool, verify check) (*Format, error) {
	tokens, isNginx, err := takeApart(Unquote(text))
	if err != nil {
		return nil, err
	}
	twins, err := nameExtras(tokens, o.Extra)
	if err != nil {
		return nil, err
	}
	if err := verify(tokens, isNginx); err != nil {
		return nil, err
	}
	o.Fields.assign(tokens)
	chooseTexts(tokens)
	err = chooseStamp(tokens)
	timeless := errors.Is(err, errNoTime) && o.Timeless
	if err != nil && !timeless {
		return nil, err
	}
	prog, parser, err := connect(tokens, o, lenient)
	if err != nil {
		return nil, err
	}
	feeds := func(k fieldKind) bool { return slices.ContainsFunc(tokens, func(t token) bool { return t.kind == k }) }
	endStamp := func(t token) bool { return t.kind.stamp() && !t.idle && t.end }
	prog.endStamp = isNginx && !feeds(kindTimers) || slices.ContainsFunc(tokens, endStamp) // HAProxy's is the beginning
	prog.timeless = timeless
	prog.apart = feeds(kindMethod) && feeds(kindPath)
	f := newFormat(tokens, parser)
	prog.twins = twins
	for _, t := range twins {
		f.extra[t.to] = true
	}
	return f, nil
}

// connect makes the parser: a scanner, or gonx where the scanner cannot express the format or gonx is wanted.
func connect(tokens []token, o Options, lenient bool) (*program, func() Parser, error) {
	prog, err := link(tokens, lenient)
	if err == nil && !o.Gonx {
		return prog, func() Parser { return &scanner{newReader(prog, o)} }, nil
	}
	prog = linkApart(tokens)
	cuts, err := newGonxCuts(tokens, lenient)
	return prog, func() Parser { return &gonxParser{newReader(prog, o), cuts} }, err
}

func newReader(prog *program, o Options) reader {
	return reader{prog: prog, clock: clock{zone: o.Zone}}
}

// Unquote undoes the escapes of the configuration's quoted strings.
func Unquote(text string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\t`, "\t").Replace(text)
}

// takeApart takes a format apart. The first sign in it decides on the dialect.
func takeApart(text string) (tokens []token, isNginx bool, err error) {
	if strings.ContainsAny(text, "\n\r") {
		return nil, false, errors.New("it has more than one line")
	}
	first := strings.IndexAny(text, "$%")
	if first < 0 {
		return nil, false, errors.New("neither $variables of nginx nor %directives of Apache in it")
	}
	sign, read := text[first], apacheTokens
	if sign == '$' {
		isNginx, read = true, nginxTokens
	}
	for rest := text; rest != ""; {
		at := strings.IndexByte(rest, sign)
		if at < 0 {
			at = len(rest)
		}
		if at > 0 {
			tokens = append(tokens, token{text: rest[:at]})
			rest = rest[at:]
			continue
		}
		variable, width, err := read(rest)
		if err != nil {
			return nil, isNginx, fmt.Errorf("column %d: %w", len(text)-len(rest)+1, err)
		}
		tokens = append(tokens, variable...)
		rest = rest[width:]
	}
	return tokens, isNginx, nil
}

// newFormat notes what the tokens of a format feed.
func newFormat(tokens []token, parser func() Parser) *Format {
	f := &Format{parser: parser, names: namesOf(tokens)}
	for i := range tokens {
		p := &tokens[i]
		if p.variable() && p.kind != kindSkip {
			f.fields[kindInfos[p.kind].feeds] = true
		}
		switch p.kind {
		case kindRequest:
			f.fields[FieldPath] = true
		case kindForwarded:
			f.header = p.header
		}
		if p.extra >= 0 && p.variable() {
			f.extra[p.extra] = true
		}
	}
	return f
}
