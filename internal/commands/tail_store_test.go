//go:build unix

package commands

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/tail"
	"shadow/internal/testneeds"
)

// What a tail stores must be what a replay of its log stores, whatever happens to it and to its database meanwhile.

// A keeper is a log that grows, and a tail of it with a database, in a folder of their own.
type keeper struct {
	t      *testing.T
	dir    string // of the log
	base   string // of the state and the database
	rng    *rand.Rand
	log    *os.File
	lines  int64
	cmd    *exec.Cmd
	stderr safeBuffer
	flags  []string
}

func newKeeper(t *testing.T, flags ...string) *keeper {
	k := &keeper{t: t, dir: t.TempDir(), rng: testneeds.Rand(t, 5, 6), flags: flags}
	k.base = k.dir
	log, err := os.Create(filepath.Join(k.dir, "access.log"))
	must(t, err)
	t.Cleanup(func() { log.Close() })
	k.log = log
	return k
}

func (k *keeper) state() string { return filepath.Join(k.base, "state") }
func (k *keeper) db() string    { return filepath.Join(k.base, "tailed") }

func (k *keeper) start() {
	k.t.Helper()
	args := []string{
		"tail", "access.log", "--limit", "20/10s", "--format", soakFormat, "--lateness", "1s", "--from", "checkpoint", "--state", k.state(),
		"--db", k.db(), "--save-every", "50ms", "--flush", "70ms", "--would-blocks", filepath.Join(k.dir, "would-blocks"), "--quiet",
	}
	k.cmd = command(k.t, k.dir, append(args, k.flags...)...)
	k.cmd.Stderr = &k.stderr
	must(k.t, k.cmd.Start())
	process := k.cmd.Process
	k.t.Cleanup(func() { process.Kill() })
}

func (k *keeper) kill() {
	k.cmd.Process.Kill()
	_ = k.cmd.Wait() // it was killed
}

// write writes lines for a while.
func (k *keeper) write(span time.Duration) {
	k.t.Helper()
	for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var text strings.Builder
		for range k.rng.IntN(60) {
			at := time.Now().Add(-time.Duration(k.rng.IntN(100)) * time.Millisecond)
			fmt.Fprintf(&text, "192.0.2.%d [%d.%03d] \"GET /page%d HTTP/1.1\" 200\n", k.rng.IntN(1+k.rng.IntN(200)), at.Unix(), at.UnixMilli()%1000, k.rng.IntN(9))
			k.lines++
		}
		_, err := k.log.WriteString(text.String())
		must(k.t, err)
	}
}

// begun waits until the tail has begun at the end of a log that is empty.
func (k *keeper) begun() {
	k.t.Helper()
	k.wait("the first checkpoint", func() bool { return existsFile(k.state()) })
}

// ask runs a command on the database, which has a run.
func (k *keeper) ask(args ...string) (out []byte) {
	k.t.Helper()
	k.wait("a run", func() bool {
		out, err := command(k.t, k.dir, "report", "runs", "--db", k.db()).CombinedOutput()
		return err == nil || !strings.Contains(string(out), "no such folder") && !strings.Contains(string(out), "no runs yet")
	})
	return run(k.t, k.dir, append(args, "--db", k.db())...)
}

// wait waits for something that must happen: for very long, since what it waits for may come late on a busy machine.
func (k *keeper) wait(what string, done func() bool) {
	k.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			k.t.Fatalf("waited for %s; the tail says: %s", what, k.stderr.String())
		}
	}
}

// end waits until everything has been judged, and ends the tail, which stores what it has.
func (k *keeper) end() {
	k.t.Helper()
	k.wait("all lines to be judged", func() bool {
		c, err := tail.ReadCheckpoint(k.state())
		must(k.t, err)
		return c.Tally.Requests == k.lines
	})
	must(k.t, k.cmd.Process.Signal(os.Interrupt))
	if err := k.cmd.Wait(); err != nil {
		k.t.Fatalf("the tail ended with %v: %s", err, k.stderr.String())
	}
	if left, err := os.ReadDir(k.state() + ".spool"); err != nil || len(left) > 0 {
		k.t.Errorf("left in the spool: %v, %v; the tail says: %s", left, err, k.stderr.String())
	}
}

// compare holds the database against that of a replay. Around midnight the tail has two runs.
func (k *keeper) compare() {
	k.t.Helper()
	run(k.t, k.dir, "replay", "access.log", "--db", "replayed", "--limit", "20/10s", "--format", soakFormat, "--lateness", "1s", "--quiet")
	sameStored(k.t, k.dir, k.db(), "replayed")
}

func TestTailStoreKilled(t *testing.T) {
	rounds := 8 // the soak has more
	if testing.Short() {
		rounds = 4
	}
	k := newKeeper(t)
	k.start()
	k.begun()
	for range rounds {
		k.write(time.Duration(50+k.rng.IntN(400)) * time.Millisecond)
		k.kill()
		k.start()
	}
	k.end()
	k.compare()
	t.Logf("%d lines, %d kills", k.lines, rounds)
}

// Others get answers while the tail writes, and what these say never becomes less and always adds up: by the commands, and
// by the file with the views.
func TestTailStoreShared(t *testing.T) {
	k := newKeeper(t)
	k.start()
	k.begun()
	const question = "SELECT coalesce(sum(requests), 0)::BIGINT, coalesce(sum(refused), 0)::BIGINT, (SELECT coalesce(sum(count), 0)::BIGINT FROM would_blocks) FROM policies"
	var before [2]int64
	clients := []func(question string) [3]int64{k.query, k.driver, k.python, k.terminal}
	for asked := 0; asked < 24 || before[0] == 0; asked++ {
		k.write(100 * time.Millisecond)
		k.ask("report", "runs")
		k.wait("the views of the first run", func() bool { return existsFile(filepath.Join(k.db(), "shadow.duckdb")) })
		now := clients[asked%len(clients)](question)
		if now[0] < before[0] || now[1] < before[1] || now[2] != now[1] {
			t.Errorf("%d requests, %d refused and as many would-blocks: now %v", before[0], before[1], now)
		}
		before = [2]int64(now[:2])
	}
	k.ask("report")
	k.end()
	k.compare()
}

// query asks by the command.
func (k *keeper) query(question string) [3]int64 {
	return k.numbers(k.ask("query", question, "--output", "csv"))
}

// numbers reads the last line of CSV.
func (k *keeper) numbers(out []byte) (n [3]int64) {
	k.t.Helper()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	_, err := fmt.Sscanf(lines[len(lines)-1], "%d,%d,%d", &n[0], &n[1], &n[2])
	must(k.t, err)
	return n
}

// catalog is the file that other programs open.
func (k *keeper) catalog() string { return filepath.Join(k.db(), "shadow.duckdb") }

func (k *keeper) driver(question string) (n [3]int64) {
	k.t.Helper()
	db, err := sql.Open("duckdb", k.catalog()+"?access_mode=READ_ONLY")
	must(k.t, err)
	defer db.Close()
	must(k.t, db.QueryRow(question).Scan(&n[0], &n[1], &n[2]))
	return n
}

func (k *keeper) python(question string) [3]int64 {
	const script = "import duckdb, sys; print(*duckdb.connect(sys.argv[1], read_only=True).sql(sys.argv[2]).fetchone(), sep=',')"
	return k.outside("python", "-c", script, k.catalog(), question)
}

func (k *keeper) terminal(question string) [3]int64 {
	return k.outside("duckdb", "-readonly", "-csv", k.catalog(), question)
}

// outside runs a program of DuckDB's clients.
func (k *keeper) outside(program string, args ...string) [3]int64 {
	k.t.Helper()
	out, err := exec.Command(testneeds.File(k.t, filepath.Join("../../bin/duckdb-clients/bin", program)), args...).CombinedOutput()
	if err != nil {
		k.t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return k.numbers(out)
}

// Runs that are deleted, and a file that is written again, do not disturb a tail that stores into it.
func TestTailStorePruned(t *testing.T) {
	k := newKeeper(t)
	k.start()
	k.begun()
	stored := func() bool {
		out := k.ask("query", "SELECT count(*) AS n FROM runs WHERE requests > 0", "--output", "csv")
		return strings.TrimSpace(string(out)) == "n\n1"
	}
	k.write(1500 * time.Millisecond)
	k.wait("the database", func() bool { return existsFile(k.db()) && stored() })
	for range 3 {
		k.ask("report", "runs", "delete", "last")
		k.write(300 * time.Millisecond)
		k.wait("another run", stored)
	}
	k.end()
	out := k.ask("query", "SELECT requests = (SELECT sum(requests) FROM clients) AND refused = (SELECT sum(refused) FROM client_tallies t WHERE t.policy = p.policy) AS ok FROM policies p GROUP BY ALL", "--output", "csv")
	if strings.TrimSpace(string(out)) != "ok\ntrue" {
		t.Errorf("the run that is left does not add up: %s", out)
	}
}
