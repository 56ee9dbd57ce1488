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
	Format    string   // "auto" or "", a name of the catalogue, or a text as nginx's log_format or Apache's LogFormat has it
	NginxConf string   // path of an nginx configuration
	LogName   string   // name of its log_format; see FromNginxConf
	Fields    string   // a field mapping; what it leaves open has the known names
	Hints     []string // texts like Format: a log that some of them read has the best if nothing is stated
	Options   parse.Options
}

var errLogName = errors.New("--log-name goes with --nginx-conf")

// For finds the format of a log of which sample is the beginning: the one that was chosen, or one that reads it. Read
// and Lines of the result tell how well it does.
func (c Choice) For(sample []byte) (Detection, error) { return NewDetector(c).For(sample) }

// For is Choice.For for one of many logs.
func (d *Detector) For(sample []byte) (Detection, error) {
	if d.choice.LogName != "" && d.choice.NginxConf == "" {
		return Detection{}, errLogName
	}
	lines := sampleLines(sample)
	if hinted := d.hinted(sample, lines); hinted.Format != nil {
		return hinted, nil
	}
	if d.choice.automatic() && !(d.choice.Fields != "" && parse.Mostly(lines, jsonLike)) {
		return d.detected(sample)
	}
	var found Detection
	var err error
	for i, c := range d.choice.each() {
		if other, failed := d.stated(c, sample, lines); i == 0 || failed == nil && (err != nil || other.better(found, false)) {
			found, err = other, failed
		}
	}
	if err == nil && d.choice.automatic() && 100*found.Read < minRead*found.Lines { // text in JSON
		if other, err := d.detected(sample); err == nil {
			return other, nil
		}
	}
	if err == nil {
		err = d.unnamed(found.Format)
	}
	return found, err
}

// hinted finds the hint that reads a log best, no format if nothing may be hinted or none reads it.
func (d *Detector) hinted(sample []byte, lines [][]byte) (best Detection) {
	if !d.choice.automatic() {
		return best
	}
	for _, hint := range d.choice.Hints {
		found, err := d.stated(Choice{Format: hint, Options: d.choice.Options}, sample, lines)
		if err == nil && found.sound > 0 && 100*found.sound >= minRead*found.Lines && (best.Format == nil || found.better(best, false)) {
			best = found
		}
	}
	return best
}

// detected is detect, with an error for a name of --field that the format does not have.
func (d *Detector) detected(sample []byte) (Detection, error) {
	if d.fields != nil {
		return Detection{}, d.fields
	}
	found, err := d.detect(sample)
	if err == nil {
		err = d.unnamed(found.Format)
	}
	return found, err
}

// unnamed is the error of a name of --field that a format does not have.
func (d *Detector) unnamed(f *parse.Format) error {
	if name := f.Unnamed(d.choice.Options.Fields); name != "" {
		return fmt.Errorf("--field %s: the format %s has no %s, but %s", d.choice.Fields, f.Name, name, strings.Join(f.Names(), ", "))
	}
	return nil
}

// stated reads a sample with the format that a Choice of one states.
func (d *Detector) stated(c Choice, sample []byte, lines [][]byte) (Detection, error) {
	format, err := d.once("stated "+c.NginxConf+"\n"+c.Format, c.stated)
	if err == nil && isUTF16(sample) {
		err = errUTF16
	}
	if err != nil {
		return Detection{}, err
	}
	found := d.withoutUpstream(judge(format, lines, nil), lines)
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
	d := NewDetector(c)
	switch {
	case c.LogName != "" && c.NginxConf == "":
		return errLogName
	case d.fields != nil || c.automatic():
		return d.fields
	}
	for _, one := range d.choice.each() {
		if _, err := one.stated(); err != nil {
			return err
		}
	}
	return nil
}

// each returns a Choice for each format that is stated, and at least one.
func (c Choice) each() (all []Choice) {
	if c.NginxConf+c.LogName != "" {
		one := c
		one.Format = ""
		all = append(all, one)
	}
	if c.Format != "" && c.Format != "auto" || len(all) == 0 {
		one := c
		one.NginxConf, one.LogName = "", ""
		all = append(all, one)
	}
	return all
}

func (c Choice) automatic() bool {
	return c.NginxConf == "" && (c.Format == "" || c.Format == "auto")
}

// stated compiles what was stated.
func (c Choice) stated() (*parse.Format, error) {
	switch {
	case c.LogName != "" && c.NginxConf == "":
		return nil, errLogName
	case c.NginxConf != "":
		return FromNginxConf(c.NginxConf, c.LogName, c.Options)
	case c.automatic():
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
	} else if parse.SeparatorOf(parse.Unquote(c.Format)) != " " && !strings.ContainsAny(c.Format, "$%{") {
		c.Format, compile = parse.Unquote(c.Format), parse.CompileColumns
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
