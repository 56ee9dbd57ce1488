package detect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/parse"
)

// A Choice is what the command line says of the format. The zero Choice leaves it to detection. Of several formats that
// are stated, each log has the one that reads it best.
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
	all := d.choice.each()
	if len(all) == 0 {
		return d.detect(sample)
	}
	best, failed := d.stated(all[0], sample)
	for _, other := range all[1:] {
		found, err := d.stated(other, sample)
		if err == nil && (failed != nil || found.better(best, false)) {
			best, failed = found, nil
		}
	}
	return best, failed
}

// stated is the format of a Choice of one for a log.
func (d *Detector) stated(c Choice, sample []byte) (Detection, error) {
	format, err := d.once("stated "+c.NginxConf+c.Fields+"\n"+c.Format, c.stated)
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
		err = fmt.Errorf("--format: %q has no time, such as $time_local or %%t, and there is none around the lines", c.Format)
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
	wrapped, err := d.once(w.Name+"\nstated\n"+inner.Format.Name+"\n"+inner.Format.Text, func() (*parse.Format, error) { return inner.Format.In(w), nil })
	return judge(wrapped, lines, nil), err
}

// Verify reports whether what was stated is a format, before there is a log to read.
func (c Choice) Verify() error {
	for _, one := range c.each() {
		if _, err := one.stated(); err != nil {
			return err
		}
	}
	return nil
}

// each returns a Choice for each format that is stated.
func (c Choice) each() (all []Choice) {
	if c.NginxConf+c.LogName != "" {
		all = append(all, Choice{NginxConf: c.NginxConf, LogName: c.LogName, Options: c.Options})
	}
	if c.Fields != "" {
		all = append(all, Choice{Fields: c.Fields, Options: c.Options})
	}
	if c.Format != "" && c.Format != "auto" {
		all = append(all, Choice{Format: c.Format, Options: c.Options})
	}
	return all
}

// stated compiles what was stated.
func (c Choice) stated() (*parse.Format, error) {
	switch {
	case c.LogName != "" && c.NginxConf == "":
		return nil, errors.New("--log-name goes with --nginx-conf")
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
