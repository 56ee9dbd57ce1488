//go:build linux || darwin

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/klauspost/compress/gzip"

	samplelogs "shadow/sample-logs"
)

// seed makes the logs the same everywhere.
const seed = 1

// bytesPerLine is the size of a generated line, rounded up; for asking whether a log fits on the disk.
const bytesPerLine = 230

// places maps what commands name in braces: generated logs, each with its number of lines, and files that are written.
var places = map[string]func(b *bench, lines int64) (name string, logged int64, err error){
	"shadow": func(b *bench, _ int64) (string, int64, error) { return b.shadow, 0, nil },
	"bench": func(*bench, int64) (string, int64, error) {
		self, err := os.Executable()
		return self, 0, err
	},
	"log":     func(b *bench, lines int64) (string, int64, error) { return b.log(lines, 50_000) },
	"lonely":  func(b *bench, lines int64) (string, int64, error) { return b.log(min(lines, 300_000), 1) }, // one client's day
	"million": func(b *bench, _ int64) (string, int64, error) { return b.log(1_000_000, 1_000_000) },
	"crowd":   func(b *bench, _ int64) (string, int64, error) { return b.log(6_000_000, 5_000_000) },
	"gzip":    (*bench).packed,
	"files":   (*bench).dealt,
	"planted": (*bench).planted,
	"policies": func(b *bench, _ int64) (string, int64, error) {
		name := filepath.Join(b.dir, "policies.yaml")
		return name, 0, os.WriteFile(name, []byte(policiesFile), 0o644)
	},
	"db": written("bench.db"), "runs": written("report.db"),
	"blocks": written("would-blocks.json"), "state": written("tail.state"),
}

// traces are the files that commands write, with what they keep beside them.
var traces = []string{"bench.db*", "report.db*", "would-blocks.json*", "tail.state*"}

func written(name string) func(*bench, int64) (string, int64, error) {
	return func(b *bench, _ int64) (string, int64, error) { return filepath.Join(b.dir, name), 0, nil }
}

// clean removes what commands wrote; logs are kept for the next run.
func (b *bench) clean() {
	for _, pattern := range traces {
		names, _ := filepath.Glob(filepath.Join(b.dir, pattern))
		for _, name := range names {
			_ = os.RemoveAll(name) // the next run writes it again
		}
	}
}

var braces = regexp.MustCompile(`\{(\w+)\}`)

// contender makes the files that a row names.
func (b *bench) contender(r row, lines int64) (*contender, error) {
	c := &contender{row: r}
	var failed error
	put := func(text string) string {
		return braces.ReplaceAllStringFunc(text, func(place string) string {
			name, logged, err := places[strings.Trim(place, "{}")](b, lines)
			failed = errors.Join(failed, err)
			c.lines = max(c.lines, logged)
			return name
		})
	}
	for word := range strings.FieldsSeq(r.command) {
		c.args = append(c.args, put(word))
	}
	c.input = put(r.stdin)
	if r.fresh != "" {
		c.waste = []string{put(r.fresh), put(r.fresh) + ".wal"}
	}
	return c, failed
}

// log returns the path of a generated log, which it makes if it is not there, and reads once so that it lies in the
// page cache. Files are kept for the next run.
func (b *bench) log(lines, clients int64) (string, int64, error) {
	name := filepath.Join(b.dir, fmt.Sprintf("access-%d-lines-%d-clients-seed-%d.log", lines, clients, seed))
	if _, err := os.Stat(name); err != nil {
		if err := b.room(lines * bytesPerLine); err != nil {
			return "", 0, err
		}
		err := create(name, func(w io.Writer) error {
			_, err := samplelogs.New(samplelogs.Config{Lines: lines, Clients: clients, Seed: seed}).WriteTo(w)
			return err
		})
		if err != nil {
			return "", 0, err
		}
	}
	return name, lines, warm(name)
}

// packed returns the log as gzip compresses it, which logrotate runs.
func (b *bench) packed(lines int64) (string, int64, error) {
	log, _, err := b.log(lines, 50_000)
	if err != nil {
		return "", 0, err
	}
	name := log + ".gz"
	if _, err := os.Stat(name); err != nil {
		if err := create(name, func(w io.Writer) error {
			gzip := exec.CommandContext(b.ctx, "gzip", "-c", log)
			gzip.Stdout = w
			return gzip.Run()
		}); err != nil {
			return "", 0, err
		}
	}
	return name, lines, warm(name)
}

// planted returns a folder with the logs that the test of keys plants attacks in, each with its configuration.
func (b *bench) planted(int64) (string, int64, error) {
	dir := filepath.Join(b.dir, "planted")
	if _, err := os.Stat(dir); err == nil {
		return dir, 0, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", 0, err
	}
	test := exec.CommandContext(b.ctx, "go", "test", "./internal/pipeline", "-count=1", "-run", "^TestPlantedKeys$")
	test.Env = append(os.Environ(), "SHADOW_PLANTED="+dir)
	if out, err := test.CombinedOutput(); err != nil {
		return "", 0, errors.Join(fmt.Errorf("%w\n%s", err, out), os.RemoveAll(dir)) // half of them would look whole
	}
	return dir, 0, nil
}

// manyFiles is the number of files that the log is dealt over.
const manyFiles = 1000

// dealt returns a folder with the log in many files, one after the other in time.
func (b *bench) dealt(lines int64) (string, int64, error) {
	log, _, err := b.log(lines, 50_000)
	if err != nil {
		return "", 0, err
	}
	folder := strings.TrimSuffix(log, ".log") + "-files"
	if _, err := os.Stat(folder); err == nil {
		return folder, lines, nil
	}
	if err := b.room(bytesOf(log)); err != nil {
		return "", 0, err
	}
	in, err := os.Open(log)
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	part := folder + ".part"
	if err := errors.Join(os.RemoveAll(part), os.Mkdir(part, 0o755)); err != nil {
		return "", 0, err
	}
	scanner, each := bufio.NewScanner(in), (lines+manyFiles-1)/manyFiles
	for i := range manyFiles {
		err := create(filepath.Join(part, fmt.Sprintf("access-%04d.log", i)), func(w io.Writer) error {
			out := bufio.NewWriter(w)
			for n := int64(0); n < each && scanner.Scan(); n++ {
				fmt.Fprintf(out, "%s\n", scanner.Bytes())
			}
			return errors.Join(scanner.Err(), out.Flush())
		})
		if err != nil {
			return "", 0, err
		}
	}
	return folder, lines, os.Rename(part, folder)
}

// small is a log of which no disk takes notice, in bytes.
const small = 16 << 20

// spare holds the bytes that stay free of a disk whose tenth is more.
const spare = 4 << 30

// room makes sure that a file of this size fits, and a tenth of the disk stays free, unless it is small.
func (b *bench) room(size int64) error {
	if size < small {
		return nil
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(b.dir, &disk); err != nil {
		return err
	}
	unit := uint64(disk.Bsize)
	free, all := disk.Bavail*unit, disk.Blocks*unit
	if free < uint64(size)+min(all/10, spare) {
		return fmt.Errorf("%s: %d MB free, a log of %d MB would leave too little (-dir or SHADOW_BENCH_DIR names another place, -large 0 does without the larger log)",
			b.dir, free/1e6, size/1e6)
	}
	return nil
}

// create writes a file that exists whole or not at all.
func create(name string, fill func(io.Writer) error) error {
	part := name + ".part"
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(file), file.Close()); err != nil {
		os.Remove(part)
		return err
	}
	return os.Rename(part, name)
}

func warm(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.CopyBuffer(io.Discard, onlyReader{file}, make([]byte, 1<<20))
	return err
}

// onlyReader hides whatever else a file can do, so that copying really reads.
type onlyReader struct{ io.Reader }

func bytesOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// gunzip reads a file and throws away what comes out.
func gunzip(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	unzip, err := gzip.NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(io.Discard, onlyReader{unzip}, make([]byte, 1<<20))
	return err
}
