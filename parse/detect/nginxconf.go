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
	format, err := compileLogFormat(f.Text, o)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: log_format %s: %w", f.File, f.Line, f.Name, err)
	}
	format.Name = f.Name
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
func chooseLogFormat(formats []nginxconf.LogFormat, name string) (nginxconf.LogFormat, bool) {
	i := slices.IndexFunc(formats, func(f nginxconf.LogFormat) bool { return f.Name == cmp.Or(name, "main") })
	switch {
	case i >= 0:
		return formats[i], true
	case name == "combined", name == "" && len(formats) == 0:
		return nginxconf.LogFormat{Name: "combined", Text: combinedText}, true
	case name == "" && len(formats) == 1:
		return formats[0], true
	}
	return nginxconf.LogFormat{}, false
}

// missingLogFormat says what there is instead.
func missingLogFormat(formats []nginxconf.LogFormat, name string) string {
	found := "only combined"
	if len(formats) > 0 {
		found = "there are "
		for _, f := range formats {
			found += fmt.Sprintf("%s (%s:%d), ", f.Name, f.File, f.Line)
		}
		found = strings.TrimSuffix(found, ", ") + "; and combined"
	}
	return fmt.Sprintf("no log_format %q; %s, which is built in", cmp.Or(name, "main"), found)
}

// readLogFormats reads a configuration with what it includes. An include that is missing counts as empty: a configuration
// is often looked at on another machine than the server's.
func readLogFormats(path string) (formats []nginxconf.LogFormat, problem, err error) {
	top, problems, err := nginxconf.Read(path, nil)
	return nginxconf.LogFormats(top), errors.Join(problems...), err
}
