package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"shadow/internal/store"
	"shadow/internal/tail"
	"shadow/internal/testneeds"
)

// A command that writes a database is killed at each of its writes in turn, before it and inside it, or the write fails, as
// testdata/faults/killat.c does it. Afterwards the database holds what it held before or all of the new, and the next
// command works. What a command says when a write failed is what then is there. SHADOW_KILLS=all tries all positions,
// SHADOW_KILLS=40 tries 40 random ones of each command; without it there are nine for each command.

// A killed writer is a command in a folder of its own.
type killedWriter struct {
	name    string
	prepare func(t *testing.T, dir string) // makes the folder
	args    []string
	again   func(t *testing.T, dir string, landed bool) // what comes after the kill
	tail    bool                                        // the command ends when it is told to, and lands batch by batch
	first   []string                                    // what the command does first, if it lands in two steps
}

const killLimit = "20/10s"

// killLog returns lines of a log, 100 a second, with an hour's pause after 3000: what a tail reads after a pause is not
// late.
func killLog(from, until int) string {
	var text strings.Builder
	for i := from; i < until; i++ {
		fmt.Fprintf(&text, "192.0.2.%d [%d.%03d] \"GET /page%d HTTP/1.1\" 200\n", i*i%97%40, 1790000000+i/100+i/3000*3600, i%100*10, i*7%11)
	}
	return text.String()
}

func replayArgs(more ...string) []string {
	return append([]string{"replay", "access.log", "--format", soakFormat, "--limit", killLimit, "--db", "kept", "--quiet"}, more...)
}

func tailArgs(from string) []string {
	return []string{
		"tail", "access.log", "--limit", killLimit, "--format", soakFormat, "--lateness", "1s", "--from", from, "--state", "state",
		"--db", "kept", "--save-every", "40ms", "--flush", "60ms", "--would-blocks", "would-blocks", "--quiet",
	}
}

func killedWriters() []killedWriter {
	grow := func(t *testing.T, dir string, from, until int) {
		f, err := os.OpenFile(filepath.Join(dir, "access.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = f.WriteString(killLog(from, until))
		must(t, errors.Join(err, f.Close()))
	}
	runsTwice := func(t *testing.T, dir string) {
		grow(t, dir, 0, 3000)
		run(t, dir, replayArgs()...)
		run(t, dir, replayArgs("--limit", "leaky:5/10s")...)
	}
	same := func(args ...string) func(t *testing.T, dir string, landed bool) {
		return func(t *testing.T, dir string, _ bool) { run(t, dir, args...) }
	}
	merge := []string{"merge", "other", "third", "--db", "kept"}
	return []killedWriter{
		{
			name: "replay", args: replayArgs("--limit", "window:30/1m"), again: same(replayArgs()...),
			prepare: runsTwice,
		},
		{
			name: "first replay", args: replayArgs(), again: same(replayArgs()...),
			prepare: func(t *testing.T, dir string) { grow(t, dir, 0, 3000) },
		},
		{
			name: "resume", args: replayArgs("--resume"), again: same(replayArgs("--resume")...),
			prepare: func(t *testing.T, dir string) {
				grow(t, dir, 0, 200_000)
				run(t, dir, replayArgs("--resume")...)
				grow(t, dir, 200_000, 400_000)
			},
		},
		{
			name: "retention", args: replayArgs("--limit", "window:30/1m", "--retain", "1ms"),
			first: replayArgs("--limit", "window:30/1m"), prepare: runsTwice, again: same(replayArgs()...),
		},
		{
			name: "tail", args: tailArgs("checkpoint"), tail: true,
			prepare: func(t *testing.T, dir string) {
				grow(t, dir, 0, 3000)
				endTail(t, dir, command(t, dir, tailArgs("start")...), 3000)
				grow(t, dir, 3000, 6000)
				run(t, dir, "replay", "access.log", "--db", "replayed", "--limit", killLimit, "--format", soakFormat, "--lateness", "1s", "--quiet")
			},
		},
		{
			name: "runs delete", args: []string{"report", "runs", "delete", "1", "--db", "kept"}, prepare: runsTwice,
			again: func(t *testing.T, dir string, landed bool) {
				if !landed {
					run(t, dir, "report", "runs", "delete", "1", "--db", "kept")
				}
				run(t, dir, replayArgs()...)
			},
		},
		{
			name: "merge", args: merge, again: same(merge...),
			prepare: func(t *testing.T, dir string) {
				runsTwice(t, dir)
				must(t, os.Rename(filepath.Join(dir, "kept"), filepath.Join(dir, "other")))
				run(t, dir, replayArgs("--limit", "window:8/1m")...)
				must(t, os.Rename(filepath.Join(dir, "kept"), filepath.Join(dir, "third")))
				run(t, dir, replayArgs("--limit", "window:7/1m")...)
			},
		},
	}
}

func TestKilledAtEachWrite(t *testing.T) {
	killer := filepath.Join(t.TempDir(), "killat")
	if out, err := exec.Command(testneeds.Program(t, "cc", "gcc", "clang"), "-O1", "-o", killer, "testdata/faults/killat.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, w := range killedWriters() {
		t.Run(w.name, func(t *testing.T) { w.kill(t, killer) })
	}
}

func (w *killedWriter) kill(t *testing.T, killer string) {
	dir, base := t.TempDir(), t.TempDir()
	w.prepare(t, dir)
	before := holding(t, dir)
	copyFolder(t, dir, base)
	between := before
	if w.first != nil {
		run(t, dir, w.first...)
		between = holding(t, dir)
		restoreFolder(t, base, dir)
	}
	calls, _ := w.run(t, killer, dir, "0", "before")
	after := holding(t, dir)
	if before == after {
		t.Fatal("the command changes nothing")
	}
	tried, landed := 0, 0
	for _, at := range killPositions(t, calls) {
		tried++
		restoreFolder(t, base, dir)
		place := at.mode
		done, said := w.run(t, killer, dir, fmt.Sprint(at.call), at.mode)
		if len(done) >= at.call {
			place += " " + done[at.call-1]
		}
		left := holding(t, dir)
		if left == after {
			landed++
		}
		if w.tail {
			w.checkTail(t, dir, place, before)
		} else {
			if at.mode == "error" {
				said.check(t, place, left != before, left == after)
			}
			if left != before && left != after && left != between {
				t.Errorf("killed %s: the database holds\n%s\nbefore:\n%s\nof an undisturbed command:\n%s", place, left, before, after)
			}
			if left == "" && existsFile(filepath.Join(dir, "kept", "version")) {
				run(t, dir, "report", "runs", "--db", "kept")
				if out, err := command(t, dir, "report", "--db", "kept").CombinedOutput(); err == nil || !bytes.Contains(out, []byte("no runs yet")) {
					t.Errorf("killed %s: the report says %s", place, out)
				}
			}
			w.again(t, dir, left == after)
			if w.name == "merge" && holding(t, dir) != after {
				t.Errorf("killed %s: after another merge the database holds\n%s\nwant\n%s", place, holding(t, dir), after)
			}
		}
	}
	t.Logf("%d kills at %d calls; %d times the new was there already", tried, len(calls), landed)
}

// checkTail continues a tail that was killed, and holds what it stores against a replay.
func (w *killedWriter) checkTail(t *testing.T, dir, place, before string) {
	t.Helper()
	wrong := ask(t, dir, `SELECT count(*) FROM policies p WHERE requests <> (SELECT sum(requests) FROM clients c WHERE c.run = p.run)
		OR refused <> (SELECT coalesce(sum(refused), 0) FROM client_tallies k WHERE k.run = p.run AND k.policy = p.policy)
		OR refused <> (SELECT coalesce(sum(count), 0) FROM events e WHERE e.run = p.run AND e.policy = p.policy)`)
	if wrong != "0" && before != "" {
		t.Errorf("killed %s: a batch is there in part", place)
	}
	endTail(t, dir, command(t, dir, w.args...), 6000)
	for _, query := range storedQueries {
		if got, want := askAll(t, dir, "kept", query), askAll(t, dir, "replayed", query); got != want {
			t.Errorf("%s:\n%.600s\nwant\n%.600s", query, got, want)
		}
	}
	if t.Failed() {
		t.Fatalf("killed %s", place)
	}
}

// run runs the command under the killer, and returns the calls that it has made, and what it says.
func (w *killedWriter) run(t *testing.T, killer, dir, at, mode string) (calls []string, s saying) {
	t.Helper()
	cmd := command(t, dir, w.args...)
	cmd.Args = append([]string{killer, dir, at, mode}, cmd.Args...)
	cmd.Path = killer
	list, err := os.Create(filepath.Join(t.TempDir(), "calls"))
	must(t, err)
	defer list.Close()
	cmd.ExtraFiles = []*os.File{list}
	var said bytes.Buffer
	cmd.Stderr = &said
	if w.tail {
		endTail(t, dir, cmd, 6000)
	} else if err := cmd.Run(); err != nil && mode != "error" && cmd.ProcessState.ExitCode() != 137 {
		t.Fatalf("%s %s: %v\n%s", mode, at, err, said.Bytes())
	}
	text, err := os.ReadFile(list.Name())
	must(t, err)
	calls = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	return calls, saying{cmd.ProcessState.ExitCode(), said.String()}
}

// endTail runs a tail until it has judged so many lines, or was killed.
func endTail(t *testing.T, dir string, cmd *exec.Cmd, lines int64) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	state := filepath.Join(dir, "state")
	var old time.Time
	if info, err := os.Stat(state); err == nil {
		old = info.ModTime()
	}
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(5 * time.Minute)
	for told := false; ; {
		select {
		case err := <-ended:
			if err != nil && cmd.ProcessState.ExitCode() != 137 && !slices.Contains(cmd.Args, "error") {
				t.Fatalf("the tail ended with %v: %s", err, said.Bytes())
			}
			return
		case <-deadline:
			c, err := tail.ReadCheckpoint(state)
			t.Fatalf("the tail does not end: %s\nsignalled: %v; its checkpoint, of %v before: %+v, %v", said.Bytes(), told, old, c.Tally, err)
		case <-time.After(10 * time.Millisecond):
		}
		c, err := tail.ReadCheckpoint(state)
		now, errNow := os.Stat(state)
		if !told && errors.Join(err, errNow) == nil && c.Tally.Requests == lines && now.ModTime().After(old) {
			// It has written a checkpoint, so it listens to signals.
			told = true
			_ = cmd.Process.Signal(os.Interrupt) // it may have been killed
		}
	}
}

// A killPosition is a call at which to kill, from 1.
type killPosition struct {
	call int
	mode string
}

// killPositions returns all, or a sample: some of all, and the last that rename something.
func killPositions(t *testing.T, calls []string) (positions []killPosition) {
	modes := []string{"before", "inside", "error"}
	if os.Getenv("SHADOW_KILLS") == "all" {
		for i := range calls {
			for _, mode := range modes {
				positions = append(positions, killPosition{i + 1, mode})
			}
		}
		return positions
	}
	if n, err := strconv.Atoi(os.Getenv("SHADOW_KILLS")); err == nil {
		random := testneeds.Rand(t, 1, uint64(len(calls)))
		for range n {
			positions = append(positions, killPosition{1 + random.IntN(len(calls)), modes[random.IntN(len(modes))]})
		}
		return positions
	}
	some := testneeds.Draws(3, 6)
	for i := range some {
		positions = append(positions, killPosition{1 + i*len(calls)/some, modes[i%3]})
	}
	renames := 0
	for i := len(calls); i > 0 && renames < 3; i-- {
		if strings.Contains(calls[i-1], " rename ") {
			positions = append(positions, killPosition{i, modes[renames]})
			renames++
		}
	}
	return positions
}

// holding tells what the database in a folder holds, apart from the moments at which it was written.
func holding(t *testing.T, dir string) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "kept")); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	query := `SELECT string_agg(concat_ws(' ', t, n, h), chr(10) ORDER BY t) FROM (
		SELECT 'runs' AS t, count(*) AS n, sum(hash(run, lines, parsed, requests, first_at, last_at)) AS h FROM runs
		UNION ALL SELECT 'inputs', count(*), sum(hash(run, input, lines, parsed)) FROM inputs`
	for _, table := range []string{"policies", "parts", "events", "clients", "agents", "actions", "client_tallies", "action_tallies"} {
		query += fmt.Sprintf(" UNION ALL SELECT '%s', count(*), sum(hash(x)) FROM %s x", table, table)
	}
	said := ask(t, dir, query+")")
	if strings.HasSuffix(said, "holds no runs yet: shadow replay makes one") || strings.HasPrefix(said, "action_tallies 0") {
		return ""
	}
	notes, err := filepath.Glob(filepath.Join(dir, "kept", "runs", "run=*", "state.*"))
	must(t, err)
	if len(notes) > 0 { // the last one counts
		said += "\n" + strings.TrimPrefix(notes[len(notes)-1], dir)
	}
	return said
}

// ask returns the answer of the database.
func ask(t *testing.T, dir, query string) string { return askAll(t, dir, "kept", query) }

// askAll returns the answer of a database, or its error.
func askAll(t *testing.T, dir, db, query string) string {
	t.Helper()
	rows, err := store.Query(context.Background(), filepath.Join(dir, db), query, store.QueryOptions{})
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var lines []string
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(lines, "\n")
		}
		if err != nil {
			return err.Error()
		}
		lines = append(lines, fmt.Sprint(row...))
	}
}

// restoreFolder makes a folder what it was, all but the log, which the commands only read: a tail knows it by where it
// lies.
func restoreFolder(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(to)
	must(t, err)
	for _, e := range entries {
		if e.Name() != "access.log" {
			must(t, os.RemoveAll(filepath.Join(to, e.Name())))
		}
	}
	copyFolder(t, from, to)
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	must(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil || rest == "." {
			return err
		}
		name := filepath.Join(to, rest)
		if d.IsDir() {
			return os.Mkdir(name, 0o700)
		}
		if rest == "access.log" && existsFile(name) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(name, text, 0o600)
	}))
}
