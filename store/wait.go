package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"shadow/store/duck"
)

// ErrBusy is that another process has the database open. It passes.
var ErrBusy = errors.New("wait until it has ended, or choose another file with --db")

// openExplained is duck.Open, with an error that people understand.
func openExplained(path string, with duck.Settings) (*duck.Conn, error) {
	d, err := duck.Open(path, with)
	if err != nil {
		err = explainOpen(path, err)
	}
	return d, err
}

// explainOpen says what to do about an error in opening a database. DuckDB says what went wrong in prose only; these
// are the sentences that an operator is likely to meet, and tests provoke each of them for real.
func explainOpen(path string, err error) error {
	text := err.Error()
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	switch {
	case strings.Contains(text, "INTERNAL Error"): // in opening a file, by what stands in it
		return fmt.Errorf("database %s: %w", path, duck.ErrDamaged)
	case errors.Is(err, duck.ErrDiskFull), errors.Is(err, duck.ErrDamaged):
		return fmt.Errorf("database %s: %w", path, err)
	case strings.Contains(text, "Conflicting lock"), strings.Contains(text, "Could not set lock"):
		return fmt.Errorf("database %s: %s holds it open: %w", path, holder(text), ErrBusy)
	}
	for _, known := range [][2]string{
		{"different configuration than existing connections", "this process has it open already"},
		{"not a valid DuckDB database file", "is not a DuckDB database: choose another file with --db"},
		{"Trying to read a database file with version number", "was written by another version of DuckDB: " + line},
		{"No such file or directory", fmt.Sprintf("there is no directory %s: make it, or choose another file with --db", filepath.Dir(path))},
		{"Permission denied", "permission denied: choose another file with --db"},
		{"Read-only file system", "permission denied: choose another file with --db"},
	} {
		if strings.Contains(text, known[0]) {
			return fmt.Errorf("database %s: %s", path, known[1])
		}
	}
	return fmt.Errorf("database %s: %s", path, line)
}

// holder names the process in DuckDB's "Conflicting lock is held in /usr/bin/duckdb (PID 123) by user …".
func holder(text string) string {
	_, rest, ok := strings.Cut(text, "(PID ")
	digits, _, _ := strings.Cut(rest, ")")
	pid, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return "another process"
	}
	if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
		return fmt.Sprintf("process %d (%s)", pid, duck.EncodeText(strings.TrimSpace(string(comm))))
	}
	return fmt.Sprintf("process %d", pid)
}

// A tail has the file open for a moment every few seconds, and so has whoever asks it something. Neither should have to
// know of the other: whoever opens the file waits for a while when another process has it open.

// A Wait says what to do while another process has the file open. The zero value waits for a while, and says nothing.
type Wait struct {
	For  time.Duration    // at most; 0 is defaultWait, less is not at all
	Tell func(busy error) // is called once, after quietWait, with who has it open; may be nil
}

// defaultWait is for how long a process waits that was not told.
var defaultWait = 2 * time.Second

const (
	quietWait    = time.Second
	pollInterval = 50 * time.Millisecond // between two attempts
)

// waiting opens something, again and again while another process is in the way.
func waiting[T any](ctx context.Context, wait Wait, open func() (T, error)) (T, error) {
	begun, told := time.Now(), wait.Tell == nil
	if wait.For == 0 {
		wait.For = defaultWait
	}
	for {
		opened, err := open()
		waited := time.Since(begun)
		if !errors.Is(err, ErrBusy) || waited >= wait.For {
			return opened, err
		}
		if !told && waited >= min(quietWait, wait.For/2) {
			told = true
			wait.Tell(err)
		}
		select {
		case <-ctx.Done():
			return opened, err
		case <-time.After(pollInterval):
		}
	}
}
