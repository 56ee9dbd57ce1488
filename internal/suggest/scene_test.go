package suggest_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/findings"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/parse/detect"
)

// A scene is a log whose clients are known: some lines of each, at any time.
type scene struct {
	*rand.Rand
	lines []sceneLine
}

type sceneLine struct {
	at   time.Duration
	text string // with a verb for the time
}

const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	uptime    = "Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"
)

func (s *scene) send(at time.Duration, client, request string, status int, referer, agent string) {
	s.lines = append(s.lines, sceneLine{at, fmt.Sprintf("%s - - [%%s] \"%s HTTP/1.1\" %d 700 \"%s\" \"%s\"\n", client, request, status, referer, agent)})
}

// people visit pages with their files, each from an address of their own, and read for some seconds.
func (s *scene) people(n int, from, to time.Duration) {
	for i := range n {
		client, at, referer := fmt.Sprintf("81.20.%d.%d", from/time.Minute, i), from+time.Duration(s.Int64N(int64(to-from))), "-"
		for range 1 + s.IntN(6) {
			page := fmt.Sprintf("/page/%d", s.IntN(90))
			s.send(at, client, "GET "+page, 200, referer, []string{firefox, chrome}[i%2])
			referer = "https://shop.example" + page
			for file := range 1 + s.IntN(6) {
				s.send(at+time.Duration(s.IntN(2500))*time.Millisecond, client, fmt.Sprintf("GET /static/%d.css", file), 200, referer, []string{firefox, chrome}[i%2])
			}
			at += time.Duration(4+s.IntN(60)) * time.Second
		}
	}
}

// machine sends a request each so often, for some time.
func (s *scene) machine(client, agent, request string, status int, from, to, each time.Duration) {
	for at := from; at < to; at += each/2 + time.Duration(s.Int64N(int64(each))) {
		s.send(at, client, strings.ReplaceAll(request, "#", fmt.Sprint(s.IntN(5000))), status, "-", agent)
	}
}

// shop is a site that people visit, and programs of all kinds.
func (s *scene) shop(people int) {
	const day = 4 * time.Hour
	s.people(people, 0, day)
	s.machine("192.0.2.1", "python-requests/2.32.0", "GET /page/#", 200, 20*time.Minute, 50*time.Minute, 2*time.Second)
	s.machine("192.0.2.2", "python-requests/2.32.0", "GET /page/#", 200, 2*time.Hour, 150*time.Minute, time.Second)
	s.machine("192.0.2.3", chrome, "GET /page/#", 200, 30*time.Minute, day, 6*time.Second)
	s.machine("192.0.2.4", curl, "GET /feed", 200, 0, day, 7*time.Minute)
	s.machine("66.249.66.1", googlebot, "GET /page/#", 200, 0, day, 40*time.Second)
	s.machine("54.36.148.1", crawler, "GET /page/#", 200, time.Hour, day, 9*time.Second)
	s.machine("216.144.250.150", uptime, "GET /health", 200, 0, day, 5*time.Minute)
}

var sceneStart = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// advisor returns one that reads the scene, with the question of a site for people.
func (s *scene) advisor(t *testing.T) *suggest.Advisor {
	slices.SortStableFunc(s.lines, func(x, y sceneLine) int { return int(x.at - y.at) })
	var text strings.Builder
	for _, l := range s.lines {
		fmt.Fprintf(&text, l.text, sceneStart.Add(l.at).Format("02/Jan/2006:15:04:05 -0700"))
	}
	log := filepath.Join(t.TempDir(), "access.log")
	check(t, os.WriteFile(log, []byte(text.String()), 0o600))

	tables := traffic.NewTables()
	actions, err := match.NewActions(nil, tables.Actions)
	check(t, err)
	finder, err := evidence.NewClueFinder(evidence.ClueRules{Purposes: true})
	check(t, err)
	options := ingest.Options{
		Tables: tables, Actions: actions, ClueFinder: finder, Format: detect.Choice{Format: "auto"},
		Lateness: ingest.DefaultLateness, Band: true, Batch: 700, Workers: 1,
	}
	look := findings.New(findings.Options{Read: &options, Client: "addr"})
	var batches []*traffic.Batch
	read := func(do func(*traffic.Batch) error) (ingest.Stats, error) {
		r, err := ingest.NewReader(t.Context(), []string{log}, nil, options)
		check(t, err)
		defer r.Close()
		for {
			b, err := r.Next()
			if err == io.EOF {
				break
			}
			check(t, err)
			kept := traffic.NewBatch(b.Len(), traffic.Columns{Clues: true})
			kept.Take(b, 0, b.Len())
			kept.Stamps = b.Stamps
			batches = append(batches, kept)
			look.Take(kept)
			check(t, do(kept))
		}
		stats := r.Stats()
		look.Findings(&stats)
		return stats, nil
	}
	scale, err := suggest.ParseScale("1")
	check(t, err)
	return &suggest.Advisor{
		Question: suggest.Question{Goals: suggest.GoalsOf(findings.People), Target: suggest.TargetOf(findings.People), Scale: scale, Recover: suggest.DefaultRecover},
		Shapes: sweep.Options{
			Kinds:   []sweep.Kind{sweep.Window, sweep.Fixed, sweep.Token},
			Periods: []limit.Time{10 * limit.Second, limit.Minute, 10 * limit.Minute, limit.Hour},
			Rates:   []sweep.Rate{{Count: 1, Per: limit.Second}, {Count: 10, Per: limit.Minute}, {Count: 2, Per: limit.Minute}},
			Workers: 1,
		},
		HeldOut: 30_000_000, Tables: tables, Lateness: ingest.DefaultLateness,
		Read: read, Who: func() *who.Register { return look.Census().Register() },
		Again: func(do func(*traffic.Batch) error) error {
			for _, b := range batches {
				again := *b
				if err := do(&again); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
