package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// The section defaults holds values of flags that the command line does not give:
//
//	defaults:
//	  client-from: x-forwarded-for
//	  trusted-proxy: [private, 192.0.2.0/24]
//
// This package does not know what the values mean: the commands with the flags do.

// A Default holds the value of a flag that the command line does not give.
type Default struct {
	Name   string   // of the flag
	Values []string // the flag is given once for each; none: nothing stands in for it
	Place  string   // where it stands: file, line and column
}

// DefaultNames are the flags that may have a default. The schema has the same, which would take longer to ask.
var DefaultNames = []string{
	"format", "nginx-conf", "log-name", "field", "timezone", "client", "client-from", "trusted-proxy", "exclude",
	"exclude-status", "network-db", "crawler-ranges", "db", "for", "protect", "target",
}

// DefaultIsFile reports whether the value of a default is the name of a file.
func DefaultIsFile(name string) bool {
	return name == "db" || name == "nginx-conf" || name == "network-db" || name == "crawler-ranges"
}

// Anchor has the names of files begin in a folder.
func (d *Default) Anchor(folder string) {
	for i, value := range d.Values {
		crawler, file, named := strings.Cut(value, "=") // NAME=FILE
		if named = named && d.Name == "crawler-ranges"; !named {
			crawler, file = "", value
		}
		if DefaultIsFile(d.Name) && !filepath.IsAbs(file) {
			file = filepath.Join(folder, file)
		}
		if d.Values[i] = file; named {
			d.Values[i] = crawler + "=" + file
		}
	}
}

// ParseDefaults reads the section defaults alone, of a configuration as ParseConfig does. Other sections may be wrong;
// where alone is set there may be none.
func ParseDefaults(name string, text []byte, alone bool) ([]Default, error) {
	short, bulk := cutBulk(strings.TrimPrefix(string(text), byteOrderMark))
	r := newReader(name, bulk)
	top := r.parse([]byte(short))
	if m, ok := top.(*ast.MappingNode); ok {
		known := keysOf(schemaNodes())
		m.Values = slices.DeleteFunc(m.Values, func(entry *ast.MappingValueNode) bool {
			other := keyOf(entry) != "defaults" && slices.Contains(known, keyOf(entry))
			if other && alone {
				r.fail(entry.Key, "%q has no place here; a user's own file has defaults only", keyOf(entry))
			}
			return other
		})
	}
	r.readTree(top)
	return r.config.Defaults, r.err()
}

// readDefaults reads the section: values by the names of flags.
func (r *configReader) readDefaults(entries ordered[list[text]]) {
	for _, e := range entries {
		p := r.beginning(e.at)
		d := Default{Name: e.name, Place: Problem{File: r.name, Line: r.line(p.Line), Column: p.Column}.place()}
		for _, v := range e.value {
			line := r.beginning(v.at).Line
			d.Values = append(append(d.Values, string(v.value)), r.bulk[line]...)
			delete(r.bulk, line)
		}
		d.Anchor(filepath.Dir(r.name))
		r.config.Defaults = append(r.config.Defaults, d)
	}
}
