//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"shadow/internal/pipeline"
	"shadow/internal/pipeline/explore"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// Questions go to the pipeline as the command asks them: the same values where a page says nothing, and flags of the
// same names and words where it does.

// mostMemory is the most memory that an answer may take, in bytes. WebAssembly has 4 GB, and ends without a word there.
const mostMemory = 3 << 30

// session holds the logs that were opened last; nil: none are.
var session *explore.Session

// ask answers a question, in JSON.
func ask(ctx context.Context, q *question, show func(pipeline.Pass) func()) ([]byte, error) {
	if q.Ask == "suggest" {
		if err := open(ctx, q, show); err != nil {
			return nil, err
		}
	}
	switch {
	case session == nil:
		return nil, errors.New("no log is open")
	case q.Ask == "page":
		var page strings.Builder
		if err := session.WritePage(ctx, &page); err != nil {
			return nil, err
		}
		return json.Marshal(page.String())
	}
	answer, err := session.Answer(ctx, q.Request)
	return bytes.TrimSpace(answer), err
}

// open opens logs in the place of those that were opened before.
func open(ctx context.Context, q *question, show func(pipeline.Pass) func()) error {
	if session != nil {
		if err := session.Close(); err != nil {
			return err
		}
		session = nil
	}
	s, err := suggestOf(q)
	if err != nil {
		return err
	}
	s.Progress, s.Memory = show, &pipeline.Memory{Most: mostMemory}
	err = s.Memory.Within(ctx, nil, func(ctx context.Context) (err error) {
		session, err = explore.Open(ctx, s, q.Files)
		if session != nil { // then err says what of the logs the answer leaves out, and so do its figures
			return nil
		}
		return err
	})
	var short *pipeline.MemoryError
	if errors.As(err, &short) {
		return errors.New("these logs take more memory than a page has (3 GB): shadow suggest reads them on a terminal")
	}
	return err
}

// suggestOf returns the pipeline of a question.
func suggestOf(q *question) (*pipeline.Suggest, error) {
	s := &pipeline.Suggest{
		Holdout: pipeline.DefaultHoldout, Scale: pipeline.SameScale, Recover: suggest.DefaultRecover, Band: true,
		Output: "json",
	}
	s.Out, s.Err, s.In = io.Discard, io.Discard, strings.NewReader("")
	s.Version, s.Started = version, time.Now()
	s.MaxBad, s.NoConfig, s.Wanted = 5, true, true
	s.Client, s.Timezone, s.Lateness = "addr", time.UTC, ingest.DefaultLateness
	var words []string
	for i := range flags {
		f := &flags[i]
		for _, value := range q.Options[f.name] {
			if err := f.set(s, value); err != nil {
				return nil, pipeline.BadFlag(f.name, value, err)
			}
			words = append(words, f.word(value))
		}
	}
	for name := range q.Options {
		if !slices.ContainsFunc(flags, func(f flag) bool { return f.name == name }) {
			return nil, pipeline.Usage("--%s is no flag that a page takes", name)
		}
	}
	s.Command = strings.Join(slices.Concat([]string{"shadow suggest"}, q.Files, []string{"--output json"}, words), " ")
	s.Again = func(command string) []string { return again(command, q.Options) }
	s.Remedy = func(flags string) string {
		if strings.HasPrefix(flags, "--by ") { // suggest finds a limit for each key
			return "shadow replay " + flags
		}
		return flags
	}
	return s, nil
}

// A flag is one of the command that a page takes as well.
type flag struct {
	name string
	logs bool // whether it says how logs are read, so that other commands have it, too
	set  func(s *pipeline.Suggest, value string) error
}

// flags lists what a visitor may choose, and what findings propose, by name.
var flags = []flag{
	{"action", false, one(plain, func(s *pipeline.Suggest) *string { return &s.Action })},
	{"client", true, one(plain, func(s *pipeline.Suggest) *string { return &s.Client })},
	{"client-from", true, one(plain, func(s *pipeline.Suggest) *string { return &s.ClientFrom })},
	{"exclude", true, list(plain, func(s *pipeline.Suggest) *[]string { return &s.Exclude })},
	{"exclude-status", true, list(plain, func(s *pipeline.Suggest) *[]string { return &s.ExcludeStatus })},
	{"for", false, one(parseServer, func(s *pipeline.Suggest) *string { return &s.For })},
	{"format", true, one(plain, func(s *pipeline.Suggest) *string { return &s.Format })},
	{"lateness", true, one(limit.ParsePeriod, func(s *pipeline.Suggest) *limit.Time { return &s.Lateness })},
	{"not-http", true, one(parseNotHTTP, func(s *pipeline.Suggest) *ingest.NotHTTP { return &s.NotHTTP })},
	{"protect", false, list(suggest.ParseGoal, func(s *pipeline.Suggest) *[]suggest.Goal { return &s.Protect })},
	{"recover", false, one(limit.ParsePeriod, func(s *pipeline.Suggest) *limit.Time { return &s.Recover })},
	{"scale", false, one(suggest.ParseScale, func(s *pipeline.Suggest) *suggest.Scale { return &s.Scale })},
	{"since", true, one(flagvalue.ParseMoment, func(s *pipeline.Suggest) *flagvalue.Moment { return &s.Since })},
	{"target", false, list(who.ParseSet, func(s *pipeline.Suggest) *[]who.Set { return &s.Target })},
	{"timezone", true, one(flagvalue.ParseZone, func(s *pipeline.Suggest) **time.Location { return &s.Timezone })},
	{"trusted-proxy", true, list(plain, func(s *pipeline.Suggest) *[]string { return &s.Trusted })},
	{"until", true, one(flagvalue.ParseMoment, func(s *pipeline.Suggest) *flagvalue.Moment { return &s.Until })},
}

// word returns the flag as a command line has it.
func (f *flag) word(value string) string { return "--" + f.name + "=" + value }

// one sets a field to a value that is read by parse.
func one[T any](
	parse func(string) (T, error), field func(*pipeline.Suggest) *T,
) func(*pipeline.Suggest, string) error {
	return func(s *pipeline.Suggest, value string) (err error) {
		*field(s), err = parse(value)
		return err
	}
}

// list adds a value that is read by parse to a field.
func list[T any](
	parse func(string) (T, error), field func(*pipeline.Suggest) *[]T,
) func(*pipeline.Suggest, string) error {
	return func(s *pipeline.Suggest, value string) error {
		v, err := parse(value)
		*field(s) = append(*field(s), v)
		return err
	}
}

func plain(value string) (string, error) { return value, nil }

func parseServer(name string) (string, error) {
	if name == "any" {
		return name, nil
	}
	if _, err := servers.Named(name); err != nil {
		return "", fmt.Errorf("%w or any", err)
	}
	return name, nil
}

func parseNotHTTP(word string) (ingest.NotHTTP, error) {
	i := slices.Index(flagvalue.NotHTTPWords, word)
	if i < 0 {
		return 0, fmt.Errorf("want one of %s", strings.Join(flagvalue.NotHTTPWords, ", "))
	}
	return ingest.NotHTTP(i), nil
}

// again returns the flags that were given and that another command takes as well. That names an action of its own.
func again(command string, given map[string][]string) (words []string) {
	for i := range flags {
		f := &flags[i]
		if f.name == "action" || !f.logs && command != "suggest" {
			continue
		}
		for _, value := range given[f.name] {
			words = append(words, f.word(value))
		}
	}
	if len(given["since"]) > 0 && command != "suggest" && command != "doctor" {
		words = append(words, "--cold") // suggest always starts cold
	}
	return words
}
