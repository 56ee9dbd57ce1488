package job

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
)

// suggested returns what suggest says of logs: the limit, which clients that hits, and the bound.
func suggested(t *testing.T, logs ...string) (answer map[string]any) {
	t.Helper()
	var page struct{ Answer map[string]any }
	text := shadow(t, slices.Concat([]string{"suggest", "--quiet", "--output", "json"}, logs)...)
	check(t, json.Unmarshal([]byte(text), &page))
	for _, names := range []string{"next", "refused_most", "harmed", "heavy", "search_engines", "broke_on"} { // what only the log tells
		delete(page.Answer, names)
	}
	if page.Answer["limit"] == nil {
		t.Fatalf("there is no answer: %v", page.Answer)
	}
	return page.Answer
}

// traced returns the trace that shadow replay makes of logs.
func traced(t *testing.T, logs ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "one.parquet")
	shadow(t, slices.Concat([]string{"replay", "--quiet", "--no-store", "--limit", "6/30s", "--trace", name}, logs)...)
	return name
}

// What the limit should be is the same on the traces that the pipeline leaves, on that of one replay, and on the logs.
func TestSuggestOnTraces(t *testing.T) {
	if !duck.Built {
		t.Skip("built without a database")
	}
	t.Setenv("SHADOW_ANONYMIZE_KEY", "sixteen bytes or more")
	logs := []string{newLog(t, 40_000), compressed(t, newLog(t, 20_000))}
	one, want := traced(t, logs...), suggested(t, logs...)
	for by, limit := range map[string]string{"client": "6/30s", "path": "token:20/1m", "site": "window:100/1m"} {
		t.Run(by, func(t *testing.T) {
			j := newJob(t, logs...)
			j.By, j.Limits, j.Trace = by, []string{limit}, true
			check(t, prism(t, j))
			traces := filepath.Join(t.TempDir(), "traces")
			check(t, Traces(t.Context(), j.Output, traces))
			files, err := os.ReadDir(traces)
			if err != nil || len(files) != j.Shards {
				t.Errorf("%v: %v", files, err)
			}
			if got := suggested(t, traces); !reflect.DeepEqual(got, want) {
				t.Errorf("traces: %v\nlogs:   %v", got, want)
			}
			if got, want := answerOf(t, traces), answerOf(t, one); got != want {
				t.Error(differ(got, want))
			}
		})
	}
}

// answerOf returns all that suggest says of traces but their names.
func answerOf(t *testing.T, traces string) string {
	t.Helper()
	var page map[string]any
	check(t, json.Unmarshal([]byte(shadow(t, "suggest", "--quiet", "--output", "json", traces)), &page))
	delete(page, "input") // the files
	text, err := json.MarshalIndent(page, "", " ")
	check(t, err)
	return strings.ReplaceAll(string(text), traces, "TRACES")
}

// Traces are written whole or not at all.
func TestTracesWholeOrNotAtAll(t *testing.T) {
	if !duck.Built {
		t.Skip("built without a database")
	}
	j := newJob(t, newLog(t, 2000))
	j.Limits = []string{"6/30s"}
	check(t, prism(t, j))
	dir := t.TempDir()
	to := filepath.Join(dir, "traces")
	if err := Traces(t.Context(), j.Output, to); err == nil || !strings.Contains(err.Error(), "--trace") {
		t.Error("no requests are kept:", err)
	}
	j.Trace, j.Output = true, filepath.Join(t.TempDir(), "results")
	check(t, prism(t, j))
	name := filepath.Join(j.Output, fmt.Sprintf("requests-%05d-of-%05d", j.Shards-1, j.Shards))
	text, err := os.ReadFile(name)
	check(t, err)
	for range 20 {
		check(t, os.WriteFile(name, flipped(testneeds.Rand(t, 5, 6), text), 0o600))
		if Traces(t.Context(), j.Output, to) == nil {
			t.Error("the requests of a shard are damaged, which is not noticed")
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("there is %v: %v", left, err)
		}
	}
	check(t, os.WriteFile(name, text, 0o600))
	check(t, Traces(t.Context(), j.Output+"/", to+"/"))
	if err := Traces(t.Context(), j.Output, to); err == nil {
		t.Error("traces that are there are written again")
	}
}
