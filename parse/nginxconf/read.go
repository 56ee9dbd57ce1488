package nginxconf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	crossplane "github.com/nginxinc/nginx-go-crossplane"
)

// A Directive is one of nginx, with where it stands. Of the escapes in its words only that of the quote around them is
// undone.
type Directive struct {
	Name  string
	Args  []string
	File  string
	Line  int
	Block []*Directive // what stands in its braces
}

// Place is the file and the line.
func (d *Directive) Place() string { return fmt.Sprintf("%s:%d", d.File, d.Line) }

// Read reads a configuration with what it includes; its text may be at hand already. What stands in a part that cannot be read is missing, and problems
// say so, a file that is included and not there among them; err says that nothing can be read.
func Read(path string, text []byte) (top []*Directive, problems []error, err error) {
	if info, err := os.Stat(path); text == nil && err != nil {
		return nil, nil, err
	} else if err == nil && info.IsDir() {
		return nil, nil, fmt.Errorf("%s is a folder; want its nginx.conf", path)
	}
	payload, err := crossplane.Parse(path, &crossplane.ParseOptions{
		SkipDirectiveContextCheck: true,
		SkipDirectiveArgsCheck:    true,
		CombineConfigs:            true,
		LexOptions:                crossplane.LexOptions{Lexers: []crossplane.RegisterLexer{new(crossplane.Lua).RegisterLexer()}},
		Open: func(file string) (io.ReadCloser, error) {
			if file == path && text != nil {
				return io.NopCloser(bytes.NewReader(text)), nil
			}
			f, err := os.Open(file)
			if err != nil {
				return io.NopCloser(strings.NewReader("")), err // it is closed all the same
			}
			return f, nil
		},
	})
	if err != nil {
		return nil, nil, err
	}
	for _, config := range payload.Config {
		top = append(top, directives(config.Parsed)...)
	}
	for _, e := range payload.Errors {
		var parse *crossplane.ParseError
		if errors.As(e.Error, &parse) && parse.File != nil && parse.Line != nil {
			e.Error = fmt.Errorf("%s:%d: %s", *parse.File, *parse.Line, strings.ReplaceAll(parse.What, "\n", " "))
		}
		problems = append(problems, e.Error)
	}
	return top, problems, nil
}

func directives(parsed crossplane.Directives) (all []*Directive) {
	for _, d := range parsed {
		all = append(all, &Directive{d.Directive, d.Args, d.File, d.Line, directives(d.Block)})
	}
	return all
}
