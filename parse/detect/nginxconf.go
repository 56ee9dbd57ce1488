package detect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/parse"
	"shadow/parse/nginxconf"
)

// nginx says itself how its log reads:
//
//	log_format  main escape=json  '$remote_addr - $remote_user [$time_local] '
//	                              '"$request" $status $body_bytes_sent';
//
// Escapes that are left in its words are undone when the text is compiled.

// A logFormat is one log_format of an nginx configuration.
type logFormat struct {
	name string
	text string
	file string
	line int
}

// FromNginxConf compiles the log_format called name of an nginx configuration. Without a name it is "main", or the
// only one that there is, or "combined", which every nginx has.
func FromNginxConf(path, name string, o parse.Options) (*parse.Format, error) {
	formats, problem, err := readLogFormats(path)
	if err != nil {
		return nil, fmt.Errorf("nginx configuration: %w", err)
	}
	f, ok := chooseLogFormat(formats, name)
	if !ok {
		return nil, errors.Join(fmt.Errorf("nginx configuration %s: %s", path, missingLogFormat(formats, name)), problem)
	}
	format, err := compileLogFormat(f.text, o)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: log_format %s: %w", f.file, f.line, f.name, err)
	}
	format.Name = f.name
	return format, nil
}

// compileLogFormat compiles a log_format, which may be a template for JSON.
func compileLogFormat(text string, o parse.Options) (*parse.Format, error) {
	if template := parse.Unquote(text); parse.IsJSONTemplate(template) {
		return parse.CompileJSONTemplate(template, o)
	}
	return parse.Compile(text, o)
}

// chooseLogFormat finds the format that is meant; the first one that has the name.
func chooseLogFormat(formats []logFormat, name string) (logFormat, bool) {
	i := slices.IndexFunc(formats, func(f logFormat) bool { return f.name == cmp.Or(name, "main") })
	switch {
	case i >= 0:
		return formats[i], true
	case name == "combined", name == "" && len(formats) == 0:
		return logFormat{name: "combined", text: combinedText}, true
	case name == "" && len(formats) == 1:
		return formats[0], true
	}
	return logFormat{}, false
}

// missingLogFormat says what there is instead.
func missingLogFormat(formats []logFormat, name string) string {
	found := "only combined"
	if len(formats) > 0 {
		found = "there are "
		for _, f := range formats {
			found += fmt.Sprintf("%s (%s:%d), ", f.name, f.file, f.line)
		}
		found = strings.TrimSuffix(found, ", ") + "; and combined"
	}
	return fmt.Sprintf("no log_format %q; %s, which is built in", cmp.Or(name, "main"), found)
}

// readLogFormats reads a configuration with what it includes. An include that is missing counts as empty: a configuration
// is often looked at on another machine than the server's.
func readLogFormats(path string) (formats []logFormat, problem, err error) {
	top, problems, err := nginxconf.Read(path, nil)
	return appendLogFormats(nil, top), errors.Join(problems...), err
}

func appendLogFormats(formats []logFormat, directives []*nginxconf.Directive) []logFormat {
	for _, d := range directives {
		if d.Name == "log_format" && len(d.Args) >= 2 {
			texts := d.Args[1:]
			if strings.HasPrefix(texts[0], "escape=") {
				texts = texts[1:]
			}
			formats = append(formats, logFormat{d.Args[0], strings.Join(texts, ""), d.File, d.Line})
		}
		formats = appendLogFormats(formats, d.Block)
	}
	return formats
}
