package detect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"shadow/parse"

	crossplane "github.com/nginxinc/nginx-go-crossplane"
)

// nginx says itself how its log reads:
//
//	log_format  main escape=json  '$remote_addr - $remote_user [$time_local] '
//	                              '"$request" $status $body_bytes_sent';
//
// The configuration is found with all its includes by crossplane. It undoes only the escape of the quote that a word
// is written in; those that are left are undone when the text is compiled.

// A logFormat is one log_format of an nginx configuration.
type logFormat struct {
	name string
	text string
	file string
	line int
}

// FromNginxConf compiles the log_format called name of an nginx configuration. Without a name it is "main", or the
// only one that there is, or "combined", which every nginx has.
func FromNginxConf(path, name string, w parse.Wants) (*parse.Format, error) {
	formats, problem, err := readLogFormats(path)
	if err != nil {
		return nil, fmt.Errorf("nginx configuration: %w", err)
	}
	f, ok := chooseLogFormat(formats, name)
	if !ok {
		return nil, errors.Join(fmt.Errorf("nginx configuration %s: %s", path, missingLogFormat(formats, name)), problem)
	}
	format, err := compileLogFormat(f.text, w)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: log_format %s: %w", f.file, f.line, f.name, err)
	}
	format.Name = f.name
	return format, nil
}

// compileLogFormat compiles a log_format, which may be a template for JSON.
func compileLogFormat(text string, w parse.Wants) (*parse.Format, error) {
	if template := parse.Unquote(text); parse.IsJSONTemplate(template) {
		return parse.CompileJSONTemplate(template, w)
	}
	return parse.Compile(text, w)
}

// chooseLogFormat finds the format that is meant; the first one that has the name.
func chooseLogFormat(formats []logFormat, name string) (logFormat, bool) {
	wanted := name
	if wanted == "" {
		wanted = "main"
	}
	for _, f := range formats {
		if f.name == wanted {
			return f, true
		}
	}
	switch {
	case name == "combined", name == "" && len(formats) == 0:
		return logFormat{name: "combined", text: combinedText}, true
	case name == "" && len(formats) == 1:
		return formats[0], true
	}
	return logFormat{}, false
}

// missingLogFormat says what there is instead.
func missingLogFormat(formats []logFormat, name string) string {
	if name == "" {
		name = "main"
	}
	if len(formats) == 0 {
		return fmt.Sprintf("no log_format %q; only combined, which is built in", name)
	}
	found := make([]string, len(formats))
	for i, f := range formats {
		found[i] = fmt.Sprintf("%s (%s:%d)", f.name, f.file, f.line)
	}
	return fmt.Sprintf("no log_format %q; there are %s; and combined, which is built in", name, strings.Join(found, ", "))
}

// readLogFormats reads a configuration with what it includes. What stands in a part that cannot be read is missing,
// and problem says so; err is for a configuration of which nothing can be read.
func readLogFormats(path string) (formats []logFormat, problem, err error) {
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if info.IsDir() {
		return nil, nil, fmt.Errorf("%s is a folder; want its nginx.conf", path)
	}
	payload, err := crossplane.Parse(path, &crossplane.ParseOptions{
		SkipDirectiveContextCheck: true,
		SkipDirectiveArgsCheck:    true,
		Open:                      openPresent(path),
	})
	if err != nil {
		return nil, nil, err
	}
	for _, config := range payload.Config {
		formats = appendLogFormats(formats, config.File, config.Parsed)
	}
	for _, e := range payload.Errors {
		problem = errors.Join(problem, e.Error)
	}
	return formats, problem, nil
}

// openPresent opens what is there: an include that is missing counts as empty, because a configuration is often looked
// at on another machine than the server's.
func openPresent(main string) func(string) (io.ReadCloser, error) {
	return func(path string) (io.ReadCloser, error) {
		f, err := os.Open(path)
		if path != main && errors.Is(err, fs.ErrNotExist) {
			return io.NopCloser(strings.NewReader("")), nil
		}
		return f, err
	}
}

func appendLogFormats(formats []logFormat, file string, directives crossplane.Directives) []logFormat {
	for _, d := range directives {
		if d.Directive == "log_format" && len(d.Args) >= 2 {
			formats = append(formats, logFormat{d.Args[0], joinLogFormat(d.Args[1:]), file, d.Line})
		}
		formats = appendLogFormats(formats, file, d.Block)
	}
	return formats
}

// joinLogFormat joins the strings of a log_format as nginx does, without its escape= parameter.
func joinLogFormat(args []string) string {
	if strings.HasPrefix(args[0], "escape=") {
		args = args[1:]
	}
	return strings.Join(args, "")
}
