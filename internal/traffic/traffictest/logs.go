// Package traffictest has logs for tests, and reads them.
package traffictest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"shadow/internal/logfile"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/parse"
	"shadow/parse/detect"
)

// Logs returns the sample logs, each by its name, and where they are at hand the real ones, whose folders are read
// together, but not with -short.
func Logs(t testing.TB) map[string][]string {
	t.Helper()
	sets := map[string][]string{}
	samples := filepath.Join(testneeds.Root(t), "sample-logs")
	for _, name := range append(glob(t, samples, "*.log"), glob(t, samples, "*.json")...) {
		sets[filepath.Base(name)] = []string{name}
	}
	sets["rotated"] = glob(t, samples, "rotated/*")
	if len(sets) < 5 {
		t.Fatal("no sample logs")
	}
	if testing.Short() {
		return sets
	}
	shared := filepath.Join(samples, "../../shared/logs")
	real, err := os.ReadDir(shared)
	if err != nil {
		t.Log("without the real logs: ", err)
	}
	for _, set := range real {
		if files := readable(t, glob(t, shared, set.Name()+"/*.gz")); len(files) > 0 {
			sets[set.Name()] = files
		}
	}
	return sets
}

// EachLog does something with each of Logs, at random.
func EachLog(t *testing.T, do func(t *testing.T, rng *rand.Rand, name string, files []string)) {
	for name, files := range Logs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, testneeds.Rand(t, 0, 0), name, files)
		})
	}
}

func glob(t testing.TB, folder, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// readable returns the files whose format can be told.
func readable(t testing.TB, files []string) (some []string) {
	t.Helper()
	for _, name := range files {
		if _, err := format(name); err == nil {
			some = append(some, name)
		}
	}
	return some
}

// Format returns the format of a file.
func Format(t testing.TB, name string) *parse.Format {
	t.Helper()
	f, err := format(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func format(name string) (*parse.Format, error) {
	input, err := logfile.OpenInput(name, nil)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	sample, err := input.Peek()
	if err != nil {
		return nil, err
	}
	found, err := detect.Choice{Format: "auto"}.For(sample)
	return found.Format, err
}

// Options returns the options for logs unless told otherwise, with tables of their own.
func Options(t testing.TB) ingest.Options {
	t.Helper()
	tables := traffic.NewTables()
	actions, err := match.NewActions(nil, tables.Actions)
	if err != nil {
		t.Fatal(err)
	}
	return ingest.Options{Tables: tables, Actions: actions, Lateness: ingest.DefaultLateness, Format: detect.Choice{Format: "auto"}}
}
