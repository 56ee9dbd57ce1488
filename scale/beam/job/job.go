package job

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// A Job says what a pipeline is to do. It travels to the workers as JSON, so it has texts of flags, and the text of the
// configuration rather than its name.
type Job struct {
	Logs   []string     // all files, the same ones for each worker
	Parts  int          // into how many byte ranges they are cut
	Shards int          // into how many shards their requests are divided
	Bounds []limit.Time // of slices of time; nil: the shards are none
	Apart  bool         // whether as many shards more have the requests by client: the others do not
	Copies logfile.Copies

	Limits   []string
	By       string // what Limits count by
	Policies []string
	Config   string
	Sweep    bool // whether curves are drawn as well, by the key By
	Trace    bool // whether requests are kept, so that traces can be made of them

	Format, Fields, Timezone   string
	Client, ClientFrom         string
	Trusted, Exclude, Statuses []string
	NotHTTP, Lateness          string

	Output  string // a folder, or gs://… or s3://…
	Command string
	Version string
	Started time.Time
}

// reading returns the settings by which the job reads lines.
func (j *Job) reading() (r pipeline.Reading, err error) {
	r = pipeline.Reading{
		LineFormat: pipeline.LineFormat{Format: j.Format, Fields: j.Fields, Parser: pipeline.Parsers[0]},
		Client:     j.Client, ClientFrom: j.ClientFrom, Trusted: j.Trusted,
		Exclude: j.Exclude, ExcludeStatus: j.Statuses,
		NotHTTP: ingest.NotHTTP(max(0, slices.Index(flagvalue.NotHTTPWords, j.NotHTTP))),
	}
	if r.Timezone, err = flagvalue.ParseZone(j.Timezone); err != nil {
		return r, fmt.Errorf("--timezone: %w", err)
	}
	if r.Lateness, err = limit.ParsePeriod(j.Lateness); err != nil {
		return r, fmt.Errorf("--lateness: %w", err)
	}
	return r, nil
}

// source returns how the job reads logs, and what it knows beside them. done removes what that needs on the disk.
func (j *Job) source() (s pipeline.Source, done func() error, err error) {
	done = func() error { return nil }
	if s.Reading, err = j.reading(); err != nil || j.Config == "" {
		s.ConfigFile = os.DevNull // never one that lies where a worker runs
		return s, done, err
	}
	dir, err := os.MkdirTemp("", "shadow-beam-")
	if err != nil {
		return s, done, err
	}
	s.ConfigFile = filepath.Join(dir, pipeline.DefaultConfig)
	return s, func() error { return os.RemoveAll(dir) }, os.WriteFile(s.ConfigFile, []byte(j.Config), 0o600)
}

// key returns the key that Limits count by.
func (j *Job) key() (request.Key, error) {
	by, err := request.ParseKey(j.By)
	if err != nil {
		err = fmt.Errorf("--by: %w", err)
	}
	return by, err
}
