// Package initial begins a site's configuration: a log comes in, and a commented shadow.yaml goes out, with what the log
// shows of how it is to be read.
package initial

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/findings"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/traffic/ingest"
)

// An Init writes a shadow.yaml that fits some logs: how they are read, which clients are the site's own, and the limit
// that suggest answers with. With what it finds of proxies it reads the logs again.
type Init struct {
	pipeline.Suggest
	File    string           // where shadow.yaml is to be; "": on Out, and with Cron in the working directory
	Replace bool             // whether it may be there already
	Cron    bool             // a crontab that runs a night with it, in its place
	Given   []policy.Default // what flags state that can be a default
}

// A setting is a default with the finding that shows it; "" if a flag states it.
type setting struct {
	policy.Default
	why string
}

// Run verifies what is asked, reads, and writes.
func (f *Init) Run(ctx context.Context, logs []string) error {
	if f.Cron {
		return f.writeCrontab(logs)
	}
	if once := ingest.Once(logs); once != "" {
		return pipeline.Usage("%s can be read only once, and a log behind a proxy is read again with what was found: name a file", once)
	}
	if _, err := os.Lstat(f.File); err == nil && !f.Replace {
		return pipeline.Usage("%s is there already: --replace writes a new one in its place", f.File)
	}
	text, incomplete := f.text(ctx, logs)
	if text == "" {
		return incomplete
	}
	if f.File == "" {
		_, err := f.Out.Write([]byte(text))
		return cmp.Or(err, incomplete)
	}
	return cmp.Or(os.WriteFile(f.File, []byte(text), 0o644), incomplete)
}

// mostReadings bounds how often logs are read: behind a proxy may be another one.
const mostReadings = 3

// text returns the file. An IncompleteError may come with it.
func (f *Init) text(ctx context.Context, logs []string) (string, error) {
	here, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	var settings []setting
	for _, d := range f.Given { // of files that are found from wherever shadow.yaml will be
		d.Anchor(here)
		settings = append(settings, setting{Default: d})
	}
	f.NoConfig = true // what the file says that is to be replaced has no say
	for reading := 1; ; reading++ {
		q := f.Suggest // which is asked once
		q.Quiet = q.Quiet || reading > 1
		page, err := q.Hold(ctx, logs)
		if over := q.Spares("file", f.File); over != nil {
			return "", errors.Join(over, q.Release())
		}
		if page == nil {
			return "", errors.Join(err, q.Release())
		}
		if reading == mostReadings || !f.trust(page.Findings, &settings) {
			if text := guessed(q.Found().Stats.Inputs); text != "" && f.Format == "auto" {
				why := "No known format reads the log: this one is guessed from its values. `shadow doctor parse` shows each field."
				settings = append(settings, setting{policy.Default{Name: "format", Values: []string{text}}, why})
			}
			return written(page, settings, q.Workers()), cmp.Or(q.Release(), err)
		}
		if err := q.Release(); err != nil {
			return "", err
		}
	}
}

// sureProxy is the share of the requests that come through what must be a proxy: a client that sends half of them can write
// a header, too.
const sureProxy = 0.95

// isSure reports whether a finding leaves no doubt.
func isSure(f *findings.Finding) bool { return f.Severity == findings.Stop && f.Share >= sureProxy }

// trust takes over what findings say of proxies without a doubt, and reports whether there was any.
func (f *Init) trust(found []findings.Finding, settings *[]setting) (some bool) {
	for i := range found {
		words := strings.Fields(found[i].Remedy)
		if !isSure(&found[i]) {
			continue
		}
		for w := 0; w+1 < len(words); w += 2 {
			s := setting{policy.Default{Name: strings.TrimPrefix(words[w], "--"), Values: strings.Split(words[w+1], ",")}, found[i].Evidence}
			switch s.Name {
			case "client-from":
				f.ClientFrom = words[w+1]
			case "trusted-proxy":
				f.Trusted = append(f.Trusted, s.Values...)
				s.Values = slices.Clone(f.Trusted)
			default:
				continue
			}
			some = true
			*settings = slices.DeleteFunc(*settings, func(other setting) bool { return other.Name == s.Name })
			*settings = append(*settings, s)
		}
	}
	return some
}

// guessed returns the format of logs that was guessed, as the next lines may show less of it; "" if a known one reads them.
func guessed(inputs []ingest.InputStats) (format string) {
	for _, in := range inputs {
		if in.Format != "guessed" || !strings.Contains(in.FormatText, "$") || format != "" && in.FormatText != format {
			return ""
		}
		format = in.FormatText
	}
	return format
}
