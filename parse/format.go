package parse

// A Format is a compiled log format. It is immutable; NewParser gives each goroutine a parser of its own.
type Format struct {
	Name   string // "combined", "vhost-combined", "nginx json", or "custom"
	Text   string // as the server's configuration would write it, or the JSON field mapping
	fields [fieldCount]bool
	extra  [MaxExtra]bool
	parser func() Parser
}

// Has reports whether the format has a field, so that a report can say what a log cannot tell.
func (f *Format) Has(field Field) bool { return f.fields[field] }

// HasExtra reports whether the format has the field that Wants.Extra names in place i.
func (f *Format) HasExtra(i int) bool { return f.extra[i] }

// NewParser returns a parser for one goroutine.
func (f *Format) NewParser() Parser { return f.parser() }
