package detect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/parse"
)

// A Choice is what the command line says of the format. The zero Choice leaves it to detection.
type Choice struct {
	Format    string // "auto" or "", a name of the catalogue, or a text as nginx's log_format or Apache's LogFormat has it
	NginxConf string // path of an nginx configuration
	LogName   string // name of its log_format; see FromNginxConf
	Fields    string // a field mapping for JSON; what it leaves open has the known names
	Options   parse.Options
}

// For finds the format of a log of which sample is the beginning: the one that was chosen, or one that reads it. Read
// and Lines of the result tell how well it does.
func (c Choice) For(sample []byte) (Detection, error) { return NewDetector(c).For(sample) }

// For is Choice.For for one of many logs.
func (d *Detector) For(sample []byte) (Detection, error) {
	if err := d.choice.single(); err != nil {
		return Detection{}, err
	}
	if d.choice.automatic() {
		return d.detect(sample)
	}
	format, err := d.once("stated", d.choice.stated)
	if err == nil && isUTF16(sample) {
		err = errUTF16
	}
	if err != nil {
		return Detection{}, err
	}
	lines := sampleLines(sample)
	found := judge(format, lines, nil)
	if 100*found.Read < minRead*found.Lines || !format.Has(parse.FieldTime) {
		found, err = d.statedWithin(found, lines, mostWrappings)
	}
	if err == nil && !found.Format.Has(parse.FieldTime) {
		err = fmt.Errorf("--format: %q has no time, such as $time_local or %%t, and there is none around the lines", d.choice.Format)
	}
	return found, err
}

// statedWithin is the stated format for lines in a wrapping, if it reads more of these.
func (d *Detector) statedWithin(found Detection, lines [][]byte, most int) (Detection, error) {
	w := cmp.Or(parse.TextWrapping(lines), parse.JSONWrapping(lines))
	if w == nil || most == 0 {
		return found, nil
	}
	bare := slices.DeleteFunc(w.Lines(lines), func(line []byte) bool { return len(line) == 0 })
	inner := judge(found.Format, bare, nil)
	if 100*inner.Read < minRead*inner.Lines {
		var err error
		if inner, err = d.statedWithin(inner, bare, most-1); err != nil {
			return inner, err
		}
	}
	if inner.Read <= found.Read {
		return found, nil
	}
	wrapped, err := d.once(w.Name+"\nstated", func() (*parse.Format, error) { return inner.Format.In(w), nil })
	return judge(wrapped, lines, nil), err
}

// Verify reports whether what was stated is a format, before there is a log to read.
func (c Choice) Verify() error {
	err := c.single()
	if err == nil && !c.automatic() {
		_, err = c.stated()
	}
	return err
}

// single reports whether more than one format was stated.
func (c Choice) single() error {
	stated := 0
	for _, s := range []string{c.Format, c.NginxConf, c.Fields} {
		if s != "" && s != "auto" {
			stated++
		}
	}
	switch {
	case stated > 1:
		return errors.New("state one of --format, --nginx-conf and --field, not several")
	case c.LogName != "" && c.NginxConf == "":
		return errors.New("--log-name goes with --nginx-conf")
	}
	return nil
}

func (c Choice) automatic() bool {
	return c.NginxConf == "" && c.Fields == "" && (c.Format == "" || c.Format == "auto")
}

// stated compiles what was stated.
func (c Choice) stated() (*parse.Format, error) {
	switch {
	case c.NginxConf != "":
		return FromNginxConf(c.NginxConf, c.LogName, c.Options)
	case c.Fields != "":
		m, err := parse.ParseFieldMapping(c.Fields)
		if err != nil {
			return nil, fmt.Errorf("--field: %w", err)
		}
		format, err := parse.CompileJSON(m.WithKnown(), c.Options)
		if err == nil {
			format.Text = m.String()
		}
		return format, err
	}
	options, compile := c.Options, compileLogFormat
	if strings.HasPrefix(c.Format, parse.W3CHeader) {
		compile = parse.CompileW3C
	} else if !strings.ContainsAny(c.Format, "$%") {
		compile = Named
	} else {
		options.Timeless = !parse.IsJSONTemplate(parse.Unquote(c.Format)) // a wrapping may have the time
	}
	format, err := compile(c.Format, options)
	if err != nil {
		return nil, fmt.Errorf("--format: %w", err)
	}
	return format, nil
}
