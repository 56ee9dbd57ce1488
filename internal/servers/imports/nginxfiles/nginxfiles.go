// Package nginxfiles joins the files of a configuration of nginx: files come in one after the other, as they were given,
// and configurations go out, each with the files that belong to it.
package nginxfiles

import (
	"path/filepath"
	"slices"

	"shadow/parse/nginxconf"
)

// A Config is a configuration: the file that names it, and all directives.
type Config struct {
	Name string
	Top  []*nginxconf.Directive
}

// Join puts a file beside those given before it, unless both are whole: what stands in one is named in the other. It
// reports whether it did, and whether the file was there already.
func (c *Config) Join(file string, top []*nginxconf.Directive) (joined, known bool) {
	whole, part := httpBlock(c.Top), httpBlock(top)
	switch {
	case whole != nil && part != nil:
		return false, false
	case file != c.Name && includes(c.Top, file): // parts of one file are as files of their own
		return true, true
	case part != nil:
		part.Block = append(part.Block, slices.DeleteFunc(c.Top, func(d *nginxconf.Directive) bool {
			return file != c.Name && includes(top, d.File)
		})...)
		c.Name, c.Top = file, top
	case whole != nil:
		whole.Block = append(whole.Block, top...)
	default:
		c.Top = append(c.Top, top...)
	}
	return true, false
}

// Levels returns the blocks called http; or the top, of a file that is included in one.
func (c *Config) Levels() (levels [][]*nginxconf.Directive) {
	for _, d := range c.Top {
		if d.Name == "http" {
			levels = append(levels, d.Block)
		}
	}
	if levels == nil {
		levels = append(levels, c.Top)
	}
	return levels
}

// httpBlock returns the first block called http; nil of a file that is included in one.
func httpBlock(top []*nginxconf.Directive) *nginxconf.Directive {
	if at := slices.IndexFunc(top, func(d *nginxconf.Directive) bool { return d.Name == "http" }); at >= 0 {
		return top[at]
	}
	return nil
}

// includes reports whether directives stand in a file, by whatever path it was included.
func includes(all []*nginxconf.Directive, file string) bool {
	wanted, is := sameFile(file), map[string]bool{}
	var holds func(all []*nginxconf.Directive) bool
	holds = func(all []*nginxconf.Directive) bool {
		return slices.ContainsFunc(all, func(d *nginxconf.Directive) bool {
			if _, known := is[d.File]; !known {
				is[d.File] = sameFile(d.File) == wanted
			}
			return is[d.File] || holds(d.Block)
		})
	}
	return holds(all)
}

// sameFile returns one path for all those of a file.
func sameFile(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}
