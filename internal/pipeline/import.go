package pipeline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/servers/imports"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/textfile"
	"shadow/internal/traffic/ingest"
	"shadow/report/format"
)

// An Import writes the limits of servers' configurations as a shadow.yaml.
type Import struct {
	Caller
	From   string // the format; "": it is found by looking
	Output string // "json", or else a shadow.yaml
}

// An Imported is what was imported, for programs.
type Imported struct {
	Config any            `json:"config"` // as in shadow.yaml
	Notes  []neutral.Note `json:"notes"`
}

// A NotUnderstoodError says that so much of what was imported is not as it is there.
type NotUnderstoodError int

func (n NotUnderstoodError) Error() string {
	return fmt.Sprintf("%d of what stands there is not understood, or judged in another way: see above", int(n))
}

// Run reads the files, and writes what they mean.
func (f *Import) Run(files []string) error {
	i, err := importLimits(f.In, f.From, files)
	if err != nil {
		return err
	}
	for _, n := range i.Notes {
		kind := "warning"
		if n.Mild {
			kind = "note"
		}
		fmt.Fprintf(f.Err, "%s: %s\n", kind, escape.Visible(n.String()))
	}
	var text bytes.Buffer
	if err := i.Write(&text); err != nil {
		return err
	}
	if f.Output == "json" {
		config, err := policy.Plain(text.Bytes())
		if err != nil {
			return err
		}
		err = format.WriteJSON(f.Out, format.ImportSchema, Imported{config, append([]neutral.Note{}, i.Notes...)})
		if err != nil {
			return err
		}
	} else if _, err = f.Out.Write(text.Bytes()); err != nil {
		return err
	}
	if len(i.Policies) > 0 {
		config, err := policy.ParseConfig("what is written", text.Bytes())
		if err == nil {
			err = compiles(&config)
		}
		if err != nil {
			return Usage("this cannot be judged as a whole: %w", err)
		}
	}
	if lost := i.Lost(); len(lost) > 0 {
		return NotUnderstoodError(len(lost))
	}
	return nil
}

// importLimits reads configurations of servers.
func importLimits(in io.Reader, from string, files []string) (*imports.Import, error) {
	i := new(imports.Import)
	for _, name := range files {
		var text []byte
		var err error
		if name == standardInput {
			name = onceName(name)
			text, err = textfile.ReadFrom(in, 0, textfile.Most)
		} else {
			text, err = textfile.Read(name, textfile.Most)
		}
		if err == nil {
			err = i.Add(name, text, from)
		}
		if err != nil {
			return nil, Usage("%w", err)
		}
	}
	i.Done()
	return i, nil
}

// Imported returns what shadow import notes of LimitsFrom, and on how many places what is judged is not as it is there. The
// source must have been built.
func (s *Source) Imported() (notes []string, lost int) { return s.imported, s.lost }

// withLimits takes the policies of --limits-from in place of those of the configuration.
func (s *Source) withLimits(config *policy.Config) error {
	if len(s.LimitsFrom) == 0 {
		return nil
	}
	flag := cmp.Or(s.LimitsFlag, "limits-from")
	i, err := importLimits(nil, "", s.LimitsFrom)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := i.Write(&text); err != nil {
		return err
	}
	s.imported, s.limits, s.logged, s.lost = nil, i.Policies, i.Logged, len(i.Lost())
	s.imported = mapped.Add(s.imported, i.Notes, func(n neutral.Note) string { return "--" + flag + ": " + n.String() })
	if len(i.Policies) == 0 {
		return Usage("--%s: there is no limit in what was read", flag)
	}
	imported, err := policy.ParseConfig(s.LimitsFrom[0], text.Bytes())
	if err == nil {
		err = config.Replace(imported)
	}
	if err != nil {
		return Usage("--%s: %w", flag, err)
	}
	return nil
}

// explainMissing says of a limit of --limits-from that counts by what no log has where it stands, and what to log; of
// others what explainMissing says.
func (s *Source) explainMissing(err error, policies []policy.Policy) error {
	if missing, is := errors.AsType[*ingest.MissingFieldError](err); is {
		var places []string
		for _, p := range s.limits {
			for _, l := range p.Limits {
				if lacksPart(l.By, missing.Field) && len(l.Told) > 0 && !slices.Contains(places, l.Told[0]) {
					places = append(places, l.Told[0])
				}
			}
		}
		if len(places) > 0 {
			return fmt.Errorf("%s: it counts by %s, which must be logged (nginx: %s in log_format); or write the limits with shadow import, "+
				"and take this one out: %w", strings.Join(places, ", "), strings.TrimPrefix(missing.Field, "the "), nginxVariable(missing.Field), err)
		}
	}
	return explainMissing(err, policies)
}

// nginxVariable returns what nginx calls a part of a request.
func nginxVariable(part string) string {
	kind, name, _ := strings.Cut(part, ":")
	switch kind {
	case "header":
		return "$http_" + strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	case "cookie":
		return "$cookie_" + name
	case ingest.TheHost:
		return "$host"
	case ingest.TheUser:
		return "$remote_user"
	case ingest.ThePath:
		return "$request"
	}
	return "$" + name
}
