package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/request"
	"shadow/suggest"
	"shadow/testneeds"
	"shadow/traffic/who"
)

type question interface {
	Run(context.Context, []string) error
}

// cacheQuestions are those that read logs whole, and ask for different columns and tables.
var cacheQuestions = map[string]func(Logs) question{
	"replay": func(l Logs) question {
		return &Replay{Logs: l, Choice: Choice{Limits: []string{"token:6/30s", "window:20/1m"}}, Keeping: Keeping{NoStore: true}, Look: Look{Output: "json", Top: 3}}
	},
	"replay of actions, with bands, evidence and harm": func(l Logs) question {
		l.Wanted = true
		c := Choice{Limits: []string{"token:6/30s", "6/1m"}, By: request.ByClientAction} // paths are noted
		return &Replay{Logs: l, Choice: c, Keeping: Keeping{NoStore: true}, Look: Look{Output: "json", Top: 3}, Band: true, Harm: true}
	},
	"sweep": func(l Logs) question { return &Sweep{Logs: l, Keeping: Keeping{NoStore: true}, Output: "json"} },
	"suggest": func(l Logs) question {
		return &Suggest{Logs: l, Protect: []suggest.Goal{{Who: who.Everybody, Percent: 90_000_000}}, Holdout: DefaultHoldout, Output: "json"}
	},
	"keys": func(l Logs) question { return &Keys{Logs: l, Refuse: []float64{50}, Output: "json"} },
	"diff": func(l Logs) question {
		return &Diff{Replay{Logs: l, Choice: Choice{Limits: []string{"token:6/30s", "token:6/30s,burst=20"}}, Look: Look{Output: "json", Top: 3}}}
	},
	"explain": func(l Logs) question {
		r := Replay{Logs: l, Choice: Choice{Limits: []string{"token:6/30s"}}, Look: Look{Output: "json", Top: 3}}
		return &Explain{Replay: r, Client: "203.0.113.201", Lines: true}
	},
}

// cacheSaid is what an answer says of the cache.
var cacheSaid = regexp.MustCompile(`\s*"cache": ?(\{[^}]*\}),`)

// A said is that.
type said struct {
	File, Reason string
	Used         bool
}

// askCached asks, and returns the answer without what it says of the cache, and that.
func askCached(t testing.TB, ask func(Logs) question, dir string, logs ...string) (string, said, error) {
	t.Helper()
	return askLogs(t, ask, Logs{Cache: dir, MaxBad: 100, Quiet: true}, logs...)
}

func askLogs(t testing.TB, ask func(Logs) question, l Logs, logs ...string) (answer string, s said, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	l.Caller = called(&out, &errs)
	if err := ask(l).Run(t.Context(), logs); err != nil {
		return "", s, err
	}
	if m := cacheSaid.FindSubmatch(out.Bytes()); m != nil {
		if err := json.Unmarshal(m[1], &s); err != nil {
			t.Fatal(err)
		}
	}
	return cacheSaid.ReplaceAllString(out.String(), ""), s, nil
}

// check complains about an answer that is not the one without a cache.
func checkCached(t testing.TB, what string, got, want string, s said, used bool, reason string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: another answer:\n%s\nwant\n%s", what, got, want)
	}
	if s.Used != used || !strings.Contains(s.Reason, reason) || used && s.Reason != "" {
		t.Errorf("%s: %+v, want used %t for %q", what, s, used, reason)
	}
}

// Whatever is asked, of whichever log: with a cache the answer is the same, byte for byte.
func TestCacheKeepsAnswers(t *testing.T) {
	logs := map[string][]string{
		"shop": {shop}, "timed": {"../sample-logs/nginx-timed.log"}, "vhosts": {"../sample-logs/vhosts.log"},
		"api": {"../sample-logs/api.json"}, "broken": {"../sample-logs/broken.log"}, "all": {"../sample-logs"},
		"rotated": {"../sample-logs/rotated", shop, "../sample-logs/empty.log"},
	}
	t.Run("real", func(t *testing.T) {
		if testing.Short() {
			t.Skip("reads real logs, many times")
		}
		folder := testneeds.Shared(t, "logs")
		for _, name := range []string{"almhuette-2019", "elastic-apache", "roadmap-nginx-2024"} {
			found, err := filepath.Glob(filepath.Join(folder, name, "*.gz"))
			if err != nil || len(found) == 0 {
				t.Fatal(name, err)
			}
			logs[name] = found
		}
	})
	for name, files := range logs {
		for what, ask := range cacheQuestions {
			t.Run(name+" "+what, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "cache")
				want, _, err := askLogs(t, ask, Logs{MaxBad: 100, Quiet: true}, files...)
				if err != nil {
					_, _, cached := askCached(t, ask, dir, files...)
					if cached == nil || cached.Error() != err.Error() {
						t.Errorf("%v, without a cache %v", cached, err)
					}
					return
				}
				for _, used := range []bool{false, true} {
					got, s, err := askCached(t, ask, dir, files...)
					if err != nil {
						t.Fatal(err)
					}
					reason := "nothing was kept"
					if used {
						reason = ""
					}
					checkCached(t, fmt.Sprint("used ", used), got, want, s, used, reason)
				}
			})
		}
	}
}

// copied is a log of one's own, with times of long ago where that is wanted.
func copied(t testing.TB, from string) (name string, content []byte) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		name = filepath.Join(t.TempDir(), "access.log")
		err = os.WriteFile(name, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name, content
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is stale is never used, and replaced.
func TestCacheOfChangedLogs(t *testing.T) {
	ask := cacheQuestions["replay"]
	for what, c := range map[string]struct {
		change func(name string, content []byte) error
		reason string
	}{
		"grown": {func(name string, content []byte) error {
			return os.WriteFile(name, append(content, content[:bytes.IndexByte(content, '\n')+1]...), 0o600)
		}, "access.log has grown"},
		"truncated": {func(name string, content []byte) error { return os.Truncate(name, 200_000) }, "access.log is shorter"},
		"another end": {func(name string, content []byte) error {
			content = bytes.Clone(content)
			content[len(content)-20] ^= 1
			return os.WriteFile(name, content, 0o600)
		}, "access.log has changed"},
		"another middle": {func(name string, content []byte) error {
			content = bytes.Clone(content)
			i := 100_000 + bytes.Index(content[100_000:], []byte("] \"GET /"))
			content[i+8] ^= 1
			return os.WriteFile(name, content, 0o600)
		}, "access.log has changed"},
		"another middle, with the old time": {func(name string, content []byte) error {
			info, err := os.Stat(name)
			check(t, err)
			content = bytes.Clone(content)
			i := 100_000 + bytes.Index(content[100_000:], []byte("] \"GET /"))
			content[i+8] ^= 1
			check(t, os.WriteFile(name, content, 0o600))
			return os.Chtimes(name, info.ModTime(), info.ModTime())
		}, "access.log has changed"},
		"another beginning": {func(name string, content []byte) error {
			return os.WriteFile(name, content[bytes.IndexByte(content, '\n')+1:], 0o600)
		}, "nothing was kept"},
		"touched":          {func(name string, content []byte) error { return os.Chtimes(name, time.Now(), time.Now()) }, ""},
		"written as it is": {func(name string, content []byte) error { return os.WriteFile(name, content, 0o600) }, ""},
	} {
		t.Run(what, func(t *testing.T) {
			name, content := copied(t, shop)
			dir := t.TempDir()
			_, s, err := askCached(t, ask, dir, name)
			check(t, err)
			check(t, c.change(name, content))
			want, _, err := askCached(t, ask, "", name)
			check(t, err)
			for _, reason := range []string{c.reason, ""} {
				got, again, err := askCached(t, ask, dir, name)
				check(t, err)
				checkCached(t, what, got, want, again, reason == "", reason)
				if again.File != s.File && !strings.Contains(c.reason, "nothing") {
					t.Errorf("%s in place of %s", again.File, s.File)
				}
			}
		})
	}
}

// The same content under other names is the same log, with its new name in the report; other files are not.
func TestCacheOfRenamedLogs(t *testing.T) {
	ask, dir := cacheQuestions["replay"], t.TempDir()
	name, content := copied(t, shop)
	_, _, err := askCached(t, ask, dir, name)
	check(t, err)
	rotated := name + ".1"
	check(t, os.Rename(name, rotated))
	other := filepath.Join(t.TempDir(), "a copy")
	check(t, os.WriteFile(other, content, 0o600))
	for _, name := range []string{rotated, other} {
		want, _, err := askCached(t, ask, "", name)
		check(t, err)
		got, s, err := askCached(t, ask, dir, name)
		check(t, err)
		checkCached(t, name, got, want, s, true, "")
		if !strings.Contains(got, name) {
			t.Errorf("%s is not named", name)
		}
	}
	want, _, err := askCached(t, ask, "", rotated, "../sample-logs/vhosts.log")
	check(t, err)
	got, s, err := askCached(t, ask, dir, rotated, "../sample-logs/vhosts.log")
	check(t, err)
	checkCached(t, "one more", got, want, s, false, "nothing was kept")
}

// Whoever reads otherwise has a file of its own, beside the others.
func TestCacheOfOtherOptions(t *testing.T) {
	dir := t.TempDir()
	ask := func(change func(*Logs, *Replay)) said {
		t.Helper()
		build := func(l Logs) question {
			r := cacheQuestions["replay"](l).(*Replay)
			if change != nil {
				change(&r.Logs, r)
			}
			return r
		}
		want, _, err := askCached(t, build, "", shop)
		check(t, err)
		got, s, err := askCached(t, build, dir, shop)
		check(t, err)
		if got != want {
			t.Errorf("another answer: %s, want %s", got, want)
		}
		return s
	}
	files := []string{ask(nil).File}
	config := func(text string) func(*Logs, *Replay) {
		name := filepath.Join(t.TempDir(), "shadow.yaml")
		check(t, os.WriteFile(name, []byte(text), 0o600))
		return func(l *Logs, _ *Replay) { l.ConfigFile = name }
	}
	robots := func(text string) func(*Logs, *Replay) {
		name := filepath.Join(t.TempDir(), "robots.txt")
		check(t, os.WriteFile(name, []byte(text), 0o600))
		return func(l *Logs, _ *Replay) { l.Robots = name }
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	check(t, err)
	for i, change := range []func(*Logs, *Replay){
		func(l *Logs, _ *Replay) { l.Client = "addr/24" },
		func(l *Logs, _ *Replay) { l.Exclude = []string{"/static/**"} },
		func(l *Logs, _ *Replay) { l.ExcludeStatus = []string{"404"} },
		func(l *Logs, _ *Replay) { l.Since = "2026-03-02T12:00:00Z" },
		func(l *Logs, _ *Replay) { l.Since, l.Cold = "2026-03-02T12:00:00Z", true },
		func(l *Logs, _ *Replay) { l.Until = "2026-03-02T12:00:00Z" },
		func(l *Logs, _ *Replay) { l.Timezone = berlin },
		func(l *Logs, _ *Replay) { l.Lateness = 1_000_000 },
		func(l *Logs, _ *Replay) { l.NotHTTP = 1 },
		func(l *Logs, _ *Replay) { l.Format = "combined" },
		func(l *Logs, _ *Replay) { l.Parser = "gonx" },
		func(l *Logs, _ *Replay) { l.Beacon = "/beacon.png" },
		robots("User-agent: *\nDisallow: /search\n"),
		robots("User-agent: *\nDisallow: /login\n"),
		config("actions: [{name: all, prefix: /}]\n"),
		config("actions: [{name: shop, prefix: /product}]\n"),
		func(_ *Logs, r *Replay) { r.By = request.ByClientAction },
		func(_ *Logs, r *Replay) { r.Band = true },
	} {
		first := ask(change)
		if first.Used || slices.Contains(files, first.File) {
			t.Errorf("change %d: %+v", i, first)
		}
		files = append(files, first.File)
		if again := ask(change); !again.Used {
			t.Errorf("change %d, again: %+v", i, again)
		}
	}
	if s := ask(nil); !s.Used || s.File != files[0] {
		t.Errorf("as before: %+v", s)
	}
	if s := ask(func(l *Logs, _ *Replay) { l.Since = "1000000h" }); s.File != "" || !strings.Contains(s.Reason, "another moment each time") {
		t.Errorf("a moment that moves: %+v", s)
	}
	kept, err := os.ReadDir(dir)
	if check(t, err); len(kept) != len(files) {
		t.Errorf("%d files, want %d", len(kept), len(files))
	}
}

var unusable = regexp.MustCompile(`^(it is damaged: |it is cut short|another version )`)

// A file that is damaged anywhere is not used, and replaced.
func TestDamagedCache(t *testing.T) {
	rng, dir := testneeds.Rand(t, 15, 6), t.TempDir()
	ask := cacheQuestions["diff"]
	want, s, err := askCached(t, ask, dir, shop)
	check(t, err)
	whole, err := os.ReadFile(s.File)
	check(t, err)
	tries := 500
	if testing.Short() {
		tries = 60
	}
	for i := range tries {
		damaged := bytes.Clone(whole)
		switch i % 3 {
		case 0:
			damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
		case 1:
			damaged = damaged[:rng.IntN(len(damaged))]
		case 2:
			damaged = append(damaged, whole[rng.IntN(len(whole)):]...)
			if bytes.Equal(damaged, whole) {
				continue
			}
		}
		check(t, os.WriteFile(s.File, damaged, 0o600))
		got, s, err := askCached(t, ask, dir, shop)
		check(t, err)
		if got != want || s.Used && i%3 != 2 || !s.Used && !unusable.MatchString(s.Reason) {
			t.Fatalf("try %d, %d of %d bytes: %+v, the same answer: %t", i, len(damaged), len(whole), s, got == want)
		}
		if i%50 > 2 {
			continue
		}
		if got, s, err := askCached(t, ask, dir, shop); err != nil || !s.Used || got != want {
			t.Fatalf("try %d: after it %+v, %v", i, s, err)
		}
	}
}

// Nobody else may read what is kept, and no other file is left.
func TestCacheIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	_, s, err := askCached(t, cacheQuestions["suggest"], dir, shop)
	check(t, err)
	for name, want := range map[string]os.FileMode{dir: 0o700 | os.ModeDir, s.File: 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

// Commands at the same time do each other no harm.
func TestCacheOfSeveralCommands(t *testing.T) {
	dir := t.TempDir()
	ask := cacheQuestions["diff"]
	want, _, err := askCached(t, ask, "", shop)
	check(t, err)
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 5 {
				if got, _, err := askCached(t, ask, dir, shop); err != nil || got != want {
					t.Errorf("another answer, %v", err)
				}
			}
		})
	}
	running.Wait()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

// What cannot be kept costs the cache, not the answer. Whoever needs several passes makes them in memory.
func TestCacheWithoutPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	for what, place := range map[string]func(*testing.T) string{
		"a file":      func(*testing.T) string { return file },
		"a full disk": func(t *testing.T) string { return testneeds.SmallDisk(t, 16) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := place(t)
			for name, ask := range cacheQuestions {
				want, _, err := askCached(t, ask, "", shop)
				check(t, err)
				got, s, err := askCached(t, ask, dir, shop)
				check(t, err)
				warned := cacheWarned.MatchString(got)
				asJSON := func(answer string) (a map[string]any) {
					check(t, json.Unmarshal([]byte(answer), &a))
					delete(a, "warnings")
					return a
				}
				if s.Used || !warned || !reflect.DeepEqual(asJSON(got), asJSON(want)) {
					t.Errorf("%s: %+v, warned: %t, got %s", name, s, warned, got)
				}
			}
			if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

var cacheWarned = regexp.MustCompile(`--cache: nothing was kept: .*(not a directory|no space left)`)
