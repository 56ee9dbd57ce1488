package nginxconf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// A LogFormat is one log_format, with where it stands. Escapes that are left in its text are undone when it is compiled.
type LogFormat struct {
	Name, Text string
	File       string
	Line       int
}

// LogFormats returns those of a configuration, in its order.
func LogFormats(all []*Directive) (formats []LogFormat) {
	for _, d := range all {
		if d.Name == "log_format" && len(d.Args) >= 2 {
			texts := d.Args[1:]
			if strings.HasPrefix(texts[0], "escape=") {
				texts = texts[1:]
			}
			formats = append(formats, LogFormat{d.Args[0], strings.Join(texts, ""), d.File, d.Line})
		}
		formats = append(formats, LogFormats(d.Block)...)
	}
	return formats
}

// What a configuration may come to. Real ones stay far below; a few small files that include each other, or a text of
// braces only, would take all time and memory.
const (
	maxDepth      = 100       // blocks in blocks
	maxFiles      = 10_000    // that are included, each counted once
	maxText       = 64 << 20  // bytes of all files, each counted once
	maxDirectives = 1_000_000 // with those of a file as often as it is included
)

// Read reads a configuration with what it includes; its text may be at hand already. What stands in a part that cannot be read is missing, and problems
// say so, a file that is included and not there among them; err says that nothing can be read.
func Read(path string, text []byte) (top []*Directive, problems []error, err error) {
	if info, err := os.Stat(path); text == nil && err != nil {
		return nil, nil, err
	} else if err == nil && info.IsDir() {
		return nil, nil, fmt.Errorf("%s is a folder; want its nginx.conf", path)
	}
	f := files{texts: map[string][]byte{}, matches: map[string][]string{}}
	if text != nil {
		if err := f.add(path, bytes.NewReader(text)); err != nil {
			return nil, nil, err
		}
	}
	payload, err := crossplane.Parse(path, &crossplane.ParseOptions{
		SkipDirectiveContextCheck: true,
		SkipDirectiveArgsCheck:    true,
		LexOptions:                lexOptions(),
		Open:                      f.open,
		Glob:                      f.glob,
	})
	if err != nil {
		return nil, nil, err
	}
	c := combiner{configs: payload.Config, base: filepath.Dir(path), looked: map[string]bool{}}
	if top, err = c.directives(payload.Config[0].File, payload.Config[0].Parsed); err != nil {
		return nil, nil, err
	}
	for _, e := range payload.Errors {
		if parse, is := errors.AsType[*crossplane.ParseError](e.Error); is && parse.File != nil && parse.Line != nil {
			e.Error = fmt.Errorf("%s:%d: %s", *parse.File, *parse.Line, strings.ReplaceAll(parse.What, "\n", " "))
		}
		problems = append(problems, e.Error)
	}
	return top, append(problems, c.missing...), nil
}

// IsKnown reports whether a directive is one of nginx, of NGINX Plus, or of a module that many build in.
func IsKnown(name string) bool {
	for _, has := range []crossplane.MatchFunc{
		crossplane.NgxPlusLatestDirectivesMatchFn, crossplane.OssLatestDirectivesMatchFn, crossplane.LuaDirectivesMatchFn,
		crossplane.HeadersMoreDirectivesMatchFn, crossplane.NjsDirectivesMatchFn, crossplane.OtelDirectivesMatchFn,
		crossplane.AppProtectWAFv5DirectivesMatchFn,
	} {
		if _, known := has(name); known {
			return true
		}
	}
	return false
}

func lexOptions() crossplane.LexOptions {
	return crossplane.LexOptions{Lexers: []crossplane.RegisterLexer{new(crossplane.Lua).RegisterLexer()}}
}

// files keeps the texts of a configuration: the parser opens each file, and looks for what a pattern matches, as often as
// they are named.
type files struct {
	texts   map[string][]byte
	size    int
	matches map[string][]string // by pattern
	matched int                 // each as often as a pattern is named
}

func (f *files) open(name string) (io.ReadCloser, error) {
	if _, known := f.texts[name]; !known {
		file, err := os.Open(name)
		if err == nil {
			err = f.add(name, file)
			file.Close()
		}
		if err != nil {
			return io.NopCloser(strings.NewReader("")), err // it is closed all the same
		}
	}
	return io.NopCloser(bytes.NewReader(f.texts[name])), nil
}

func (f *files) glob(pattern string) ([]string, error) {
	names, known := f.matches[pattern]
	var err error
	if !known {
		names, err = filepath.Glob(pattern)
		f.matches[pattern] = names
	}
	if f.matched += 1 + len(names); err == nil && f.matched > maxDirectives {
		err = fmt.Errorf("include %s: with it, patterns have matched more than %d files", pattern, maxDirectives)
	}
	return names, err
}

// add reads a file whose blocks do not nest too deep for the parser: it takes memory with the square of that.
func (f *files) add(name string, from io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(from, int64(maxText-f.size+1)))
	if err != nil {
		return err
	}
	lines := 1 + bytes.Count(text, []byte("\n"))
	if f.size += len(text); f.size > maxText {
		return fmt.Errorf("%s:%d: the configuration is larger than %d MiB", name, lines, maxText>>20)
	}
	if f.texts[name] = text; len(f.texts) > maxFiles {
		return fmt.Errorf("%s:%d: the configuration has more than %d files", name, lines, maxFiles)
	}
	if bytes.Count(text, []byte("{")) <= maxDepth {
		return nil
	}
	depth, tooDeep := 0, 0
	for t := range crossplane.LexWithOptions(bytes.NewReader(text), lexOptions()) { // to its end, for which it waits
		switch {
		case t.IsQuoted:
		case t.Value == "}":
			depth--
		case t.Value == "{":
			if depth++; depth > maxDepth && tooDeep == 0 {
				tooDeep = t.Line
			}
		}
	}
	if tooDeep > 0 {
		return fmt.Errorf("%s:%d: nests deeper than %d blocks", name, tooDeep, maxDepth)
	}
	return nil
}

// A combiner puts the directives of files into the places of the includes that name them.
type combiner struct {
	configs []crossplane.Config
	met     int // directives, includes among them

	base    string          // from where patterns go
	within  int             // blocks around
	looked  map[string]bool // patterns
	missing []error         // folders of patterns
}

func (c *combiner) directives(file string, parsed crossplane.Directives) (all []*Directive, err error) {
	for _, d := range parsed {
		if c.met++; c.met > maxDirectives {
			return nil, fmt.Errorf("%s:%d: with its includes, the configuration has more than %d directives", file,
				d.Line, maxDirectives)
		}
		for _, i := range d.Includes {
			included, err := c.directives(c.configs[i].File, c.configs[i].Parsed)
			if err != nil {
				return nil, err
			}
			all = append(all, included...)
		}
		if c.look(file, d); d.IsInclude() {
			continue
		}
		c.within++
		block, err := c.directives(file, d.Block)
		c.within--
		if err != nil {
			return nil, err
		}
		all = append(all, &Directive{d.Directive, slices.Clone(d.Args), file, d.Line, block})
	}
	return all, nil
}

// ErrNoFolder says that the folder of a pattern is not there.
var ErrNoFolder = errors.New("no such folder")

// look takes down, once, that the folder of an include within a block is not there. A pattern that fits nothing is no fault
// elsewhere; and what stands outside of blocks loads modules.
func (c *combiner) look(file string, d *crossplane.Directive) {
	if d.Directive != "include" || len(d.Includes) > 0 || len(d.Args) == 0 || c.within == 0 || c.looked[d.Args[0]] {
		return
	}
	at := strings.IndexAny(d.Args[0], "*?[")
	if at < 0 {
		return
	}
	c.looked[d.Args[0]] = true
	folder := filepath.Dir(d.Args[0][:at] + "x")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(c.base, folder)
	}
	if _, err := os.Stat(folder); err != nil {
		c.missing = append(c.missing, fmt.Errorf("%s:%d: open %s: %w", file, d.Line, d.Args[0], ErrNoFolder))
	}
}
