package detect

import (
	"errors"
	"fmt"
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
	return judge(format, sampleLines(sample), nil), nil
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
	compile := compileLogFormat
	if !strings.ContainsAny(c.Format, "$%") {
		compile = Named
	}
	format, err := compile(c.Format, c.Options)
	if err != nil {
		return nil, fmt.Errorf("--format: %w", err)
	}
	return format, nil
}
