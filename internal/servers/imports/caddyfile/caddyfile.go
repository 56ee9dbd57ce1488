// Package caddyfile reads the language of Caddy: texts come in, and directives in their blocks go out, with those that are
// imported where they stand.
// Source: caddyserver/caddy v2.10.0, caddyconfig/caddyfile/lexer.go (heredocs), parse.go (doImport), importargs.go.
package caddyfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/textfile"
)

// A Block is a directive with its words, and those within its braces.
type Block struct {
	Words []string
	Inner []*Block
	Place string // file:line
	file  string
}

// Name is its first word.
func (b *Block) Name() string {
	if len(b.Words) == 0 {
		return ""
	}
	return b.Words[0]
}

// Has reports whether it is a directive of a name, or has one in it.
func (b *Block) Has(name string) bool {
	return b.Name() == name || slices.ContainsFunc(b.Inner, func(inner *Block) bool { return inner.Has(name) })
}

const (
	mostDepth   = 100     // of blocks within blocks: what reads them calls itself for each
	mostImports = 20      // of imports within imports
	mostBlocks  = 100_000 // in all
)

var token = lazy.Regexp("\"((?:\\\\.|[^\"\\\\])*)\"|`([^`]*)`|\\\\\r?\n|#[^\n]*|\n|[^\\s]+")

// heredoc begins a word of several lines, which the name behind the sign ends.
var heredoc = lazy.Regexp(`[ \t]<<([\w-]+)\r?\n`)

// comment begins one, before the end of a line.
var comment = lazy.Regexp(`(^|\s)#`)

// inQuotes returns a text with quotes around its heredocs. Each line keeps its number.
func inQuotes(text string) string {
	var b strings.Builder
	for {
		begin := heredoc().FindStringSubmatchIndex(text)
		if begin == nil {
			return b.String() + text
		}
		body, rest, ok := cutHeredoc(text[begin[1]:], text[begin[2]:begin[3]])
		if !ok || comment().MatchString(text[1+strings.LastIndexByte(text[:begin[0]], '\n'):begin[1]]) {
			b.WriteString(text[:begin[1]]) // it has no end, or is none
			text = text[begin[1]:]
			continue
		}
		quote := "`"
		if strings.Contains(body, quote) {
			quote, body = `"`, strings.ReplaceAll(strings.ReplaceAll(body, `\`, ""), `"`, `\"`)
		}
		b.WriteString(text[:begin[0]] + " \\\n\\\n" + quote + body + quote)
		text = rest
	}
}

// cutHeredoc cuts the lines before that of a marker, without the space that stands before it.
func cutHeredoc(text, marker string) (body, rest string, ok bool) {
	from := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " \t")
		if after, is := strings.CutPrefix(bare, marker); is && strings.TrimLeft(after, " \t\r\n") != after || bare == marker {
			body = strings.TrimSuffix(text[:from], "\n")
			indent := line[:len(line)-len(bare)]
			return strings.TrimPrefix(strings.ReplaceAll(body, "\n"+indent, "\n"), indent), text[from+len(indent)+len(marker):], true
		}
		from += len(line)
	}
	return "", "", false
}

// lines reads a text.
func lines(file, text string) ([]*Block, error) {
	text = inQuotes(text)
	root := &Block{}
	open, line := []*Block{root}, 1
	b := &Block{}
	end := func() error {
		words, last := b.Words, open[len(open)-1]
		switch {
		case len(words) == 0:
			return nil
		case words[0] == "}":
			open = open[:max(1, len(open)-1)]
		default:
			last.Inner = append(last.Inner, b)
			if words[len(words)-1] == "{" {
				b.Words, b.Inner = words[:len(words)-1], []*Block{}
				open = append(open, b)
			}
		}
		if b = (&Block{}); len(open) > mostDepth+1 {
			return fmt.Errorf("%s:%d: nests deeper than %d blocks", file, line, mostDepth)
		}
		return nil
	}
	for _, at := range token().FindAllStringSubmatch(text, -1) {
		switch word := at[0]; {
		case word == "\n":
			if err := end(); err != nil {
				return nil, err
			}
		case word[0] == '#' || word[0] == '\\' && word[len(word)-1] == '\n':
		default:
			if b.Words == nil {
				b.Place, b.file = fmt.Sprintf("%s:%d", file, line), file
			}
			if quote := word[0]; len(word) > 1 && (quote == '"' || quote == '`') && word[len(word)-1] == quote {
				word = strings.ReplaceAll(at[1], `\"`, `"`) + at[2]
			}
			b.Words = append(b.Words, word)
		}
		line += strings.Count(at[0], "\n")
	}
	return root.Inner, end()
}

// A Reader puts imports where they stand.
type Reader struct {
	Lose func(place, text string, args ...any) // told what is not as it is there

	snippets map[string]*Block // with their parentheses
	used     map[*Block]bool
	made     int
}

// Read reads a Caddyfile and what it imports. Snippets that nothing imports stand among the blocks.
func (r *Reader) Read(file, text string) ([]*Block, error) {
	r.snippets, r.used = map[string]*Block{}, map[*Block]bool{}
	all, err := lines(file, r.withDefaults(file, text))
	if err == nil {
		all, err = r.expand(all, nil, 0)
	}
	return slices.DeleteFunc(all, func(b *Block) bool { return r.used[b] }), err
}

// expand returns blocks with the arguments of an import in them, and imports in the place of those that name them.
func (r *Reader) expand(blocks []*Block, args []string, depth int) (all []*Block, err error) {
	if blocks != nil {
		all = []*Block{} // a block may be empty
	}
	for _, raw := range blocks { // a route may stand behind what invokes it
		if raw.Inner != nil && strings.HasPrefix(raw.Name(), "&(") {
			r.snippets[raw.Name()] = raw
		}
	}
	for _, raw := range blocks {
		b := &Block{filled(raw.Words, args), nil, raw.Place, raw.file}
		if r.made++; r.made > mostBlocks || depth > mostImports {
			return nil, fmt.Errorf("%s: imports make more than %d directives, or nest deeper than %d", b.Place, mostBlocks, mostImports)
		}
		name, last := b.Name(), b.Words[max(0, len(b.Words)-1):]
		inner, imported := raw.Inner, args
		switch {
		case raw.Inner != nil && strings.HasPrefix(name, "&("):
			all = append(all, raw)
			continue
		case raw.Inner != nil && strings.HasPrefix(name, "("):
			b.Inner, r.snippets[name] = raw.Inner, b
			all = append(all, b)
			continue
		case name == "import" && len(b.Words) > 1:
			if raw.Inner != nil {
				r.Lose(b.Place, "the block that %s hands over is not read", strings.Join(b.Words, " "))
			}
			inner, imported, depth = r.imported(b), b.Words[2:], depth+1
		case name == "invoke" && r.snippets["&("+last[0]+")"] != nil:
			route := r.snippets["&("+last[0]+")"]
			inner, imported, r.used[route] = route.Inner, nil, true
			b.Words = append([]string{"route"}, b.Words[1:len(b.Words)-1]...)
		}
		inner, err = r.expand(inner, imported, depth)
		if err != nil {
			return nil, err
		}
		if name == "import" {
			all = append(all, inner...)
			depth--
			continue
		}
		b.Inner = inner
		all = append(all, b)
	}
	return all, nil
}

// imported finds a snippet, or files beside the one that has the import.
func (r *Reader) imported(b *Block) (all []*Block) {
	pattern := b.Words[1]
	if snippet := r.snippets["("+pattern+")"]; snippet != nil {
		r.used[snippet] = true
		return snippet.Inner
	}
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(filepath.Dir(b.file), pattern)
	}
	files, err := filepath.Glob(pattern)
	if len(files) == 0 || err != nil {
		r.Lose(b.Place, "import %s: there is no such snippet or file here: if it limits, give it too", b.Words[1])
	}
	for _, file := range files {
		text, err := textfile.Read(file, textfile.Most)
		if err == nil {
			var inner []*Block
			inner, err = lines(file, r.withDefaults(file, string(text)))
			all = append(all, inner...)
		}
		if err != nil {
			r.Lose(b.Place, "import %s: %v", b.Words[1], err)
		}
	}
	return all
}

var (
	oneArg   = lazy.Regexp(`\{args(?:\.(\d+)|\[(\d+)\])\}`)
	someArgs = lazy.Regexp(`^\{args\[(\d*):(\d*)\]\}$`)
)

// filled are words with arguments in the place of {args[0]}, {args.0} and {args[1:]}. What there is no argument for stays.
func filled(words, args []string) (all []string) {
	for _, word := range words {
		if span := someArgs().FindStringSubmatch(word); span != nil && args != nil {
			from, _ := strconv.Atoi(span[1])
			to, err := strconv.Atoi(span[2])
			if err != nil || to > len(args) {
				to = len(args)
			}
			all = append(all, args[min(from, to):to]...)
			continue
		}
		all = append(all, oneArg().ReplaceAllStringFunc(word, func(at string) string {
			n, err := strconv.Atoi(strings.Trim(at, "{args.[]}"))
			if err != nil || n >= len(args) {
				return at
			}
			return args[n]
		}))
	}
	return all
}

var variable = lazy.Regexp(`\{\$(\w+)(?::([^}\n]*))?\}`)

// withDefaults puts the defaults of variables of the environment, {$NAME:default}, where they stand.
func (r *Reader) withDefaults(file, text string) string {
	var b strings.Builder
	for n, line := range strings.SplitAfter(text, "\n") {
		if code, _, _ := strings.Cut(line, "#"); !variable().MatchString(code) {
			b.WriteString(line)
			continue
		}
		for _, v := range variable().FindAllStringSubmatch(line, -1) {
			r.Lose(fmt.Sprintf("%s:%d", file, n+1), "only the environment has {$%s}: %q is taken", v[1], v[2])
		}
		b.WriteString(variable().ReplaceAllString(line, "$2"))
	}
	return b.String()
}
