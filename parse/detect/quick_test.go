package detect

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"shadow/internal/logfile"
	"shadow/internal/testneeds"
	"shadow/parse"

	"github.com/rogpeppe/go-internal/txtar"
)

// detectFully is the truth that a Detector is held against: each candidate reads all lines, all lines are taken apart
// for columns, and nothing is known of other logs.
func detectFully(sample []byte, o parse.Options) (Detection, error) {
	lines := sampleLines(sample)
	if err := refuse(sample); err != nil {
		return Detection{}, err
	}
	if w3cHeader(sample) != "" || parse.TextWrapping(lines) != nil || parse.JSONWrapping(lines) != nil {
		return detected(sample, o)
	}
	return findFully(lines, o)
}

func findFully(lines [][]byte, o parse.Options) (Detection, error) {
	d := NewDetector(Choice{Options: o})
	if len(lines) == 0 {
		return d.find(lines)
	}
	formats, _, said, err := d.candidates(lines)
	if err != nil {
		return Detection{}, err
	}
	var best Detection
	for _, format := range formats {
		if found := judge(format, lines, nil); best.Format == nil || found.better(best, false) {
			best = found
		}
	}
	if best.sound*100 < minRead*best.Lines {
		return d.find(lines) // which reads all lines for the error
	}
	best.Warnings = append(best.Warnings, said[best.Format]...)
	best, err = withTailFully(d, best, lines)
	return d.orGuess(best, lines), err
}

func withTailFully(d *Detector, best Detection, lines [][]byte) (Detection, error) {
	best, err := d.withoutAgents(best, lines)
	if err != nil || !strings.Contains(best.Format.Text, "$") {
		return best, err
	}
	if best.Format.Name == "combined" {
		for _, name := range [...]string{"traefik", "ingress-nginx"} {
			f, err := parse.CompileAs(catalogueText(name), d.choice.Options, name, false)
			if err == nil && judge(f, lines, nil).Read*1000 >= best.Read*999 {
				format, err := Named(name, d.choice.Options)
				return judge(format, lines, nil), err
			}
		}
	}
	return d.longer(best, readTailFully(best.Format, lines), lines), nil
}

func readTailFully(base *parse.Format, lines [][]byte) tail {
	n := len(fieldsOf(nil, base.Text))
	var r parse.Record
	p, byCount, read := base.NewParser(), map[int]*tail{}, 0
	for _, line := range lines {
		if len(line) > maxTailLine || !p.Parse(bytes.Clone(line), &r).OK() {
			continue
		}
		read++
		if fields := fieldsOf(nil, string(line)); len(fields) > n {
			if byCount[len(fields)] == nil {
				byCount[len(fields)] = &tail{columns: make([]column, len(fields)-n)}
			}
			byCount[len(fields)].add(fields[n:], r.Stamp)
		}
	}
	for _, t := range byCount {
		if t.lines*100 >= tailShare*read {
			return *t
		}
	}
	return tail{}
}

// manyLogs are the beginnings of logs: those that the tests of detection have, examples of formats alone, mixed with
// another one and with broken lines, and beginnings of their lines; and the samples.
func manyLogs(t *testing.T) (logs [][]byte) {
	logs = append(logs, nil, []byte("\n"), []byte("#Fields: date\n"), []byte("x\n#Fields: date\n"), []byte("\x00\x01\t\n\n\n\r\r\x02 !"))
	archive, err := txtar.ParseFile("testdata/detect.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		logs = append(logs, f.Data)
	}
	for i, k := range Catalogue() {
		line := k.Example + "\n"
		other := Catalogue()[(i+1)%len(Catalogue())].Example + "\n"
		logs = append(logs, []byte(line), []byte(strings.Repeat(line, 12)+"broken\n"),
			[]byte(strings.Repeat(line, 20)+strings.Repeat(other, 19)), []byte(strings.Repeat(line, 19)+strings.Repeat(other, 20)),
			[]byte("<134>Mar  2 10:00:00 lb1 web[17]: "+line), []byte(`{"more":"`+strings.TrimPrefix(line, "{")),
			[]byte(strings.Repeat(strings.TrimSpace(line)+" 0.004 \"-\"\n", 30)+line))
		for n := len(line) * 2 / 3; n < len(line); n += 7 {
			logs = append(logs, []byte(strings.Repeat(line, 3)+strings.Repeat(line[:n]+"\n", 3)))
		}
	}
	return append(logs, beginnings(t, filepath.Join(testneeds.Root(t), "sample-logs"))...)
}

// beginnings returns the beginnings of the files below a folder, as far as these can be read.
func beginnings(t *testing.T, folder string) (logs [][]byte) {
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		in, err := logfile.OpenInput(path, nil)
		if err == nil { // else it is compressed in a way that is not supported
			var head []byte
			if head, err = in.Peek(); err != nil {
				return err
			}
			logs = append(logs, head)
		}
		return nil
	})
	if err != nil || len(logs) == 0 {
		t.Fatalf("%s: %d logs, %v", folder, len(logs), err)
	}
	return logs
}

// What a Detector finds does not depend on the logs before, and is what reading all lines in all formats finds.
func TestDetectorFindsWhatFullDetectionFinds(t *testing.T) {
	logs := manyLogs(t)
	findsTheSame(t, logs, parse.Options{})
	findsTheSame(t, logs[:100], parse.Options{Gonx: true, Extra: []string{"http_x_forwarded_for"}})
}

func TestSharedLogsAreDetectedAsFully(t *testing.T) {
	findsTheSame(t, append(beginnings(t, testneeds.Shared(t, "logs")), manyLogs(t)...), parse.Options{})
}

func findsTheSame(t *testing.T, logs [][]byte, o parse.Options) {
	var want []string
	for _, log := range logs {
		want = append(want, summary(detectFully(log, o)))
	}
	forth, back := NewDetector(Choice{Options: o}), NewDetector(Choice{Options: o})
	for i, log := range logs {
		if got := summary(forth.For(log)); got != want[i] {
			t.Errorf("%.300q:\n%s\nwant\n%s", log, got, want[i])
		}
	}
	for i, log := range slices.Backward(logs) {
		if got := summary(back.For(log)); got != want[i] {
			t.Errorf("%.300q, backward:\n%s\nwant\n%s", log, got, want[i])
		}
	}
}

// summary writes down all that is known of a detection.
func summary(d Detection, err error) string {
	if err != nil {
		return err.Error()
	}
	has := ""
	for f := parse.FieldTime; f <= parse.FieldUpstreamTime; f++ {
		has += fmt.Sprint(" ", d.Format.Has(f))
	}
	return fmt.Sprintf("%s: %s\n%T has%s\n%d lines, %d read, %d sound, %d fields, %d agents, %v, %q",
		d.Format.Name, d.Format.Text, d.Format.NewParser(), has, d.Lines, d.Read, d.sound, d.learnt, d.agents, d.fault, d.Warnings)
}

// A format that is as good as an earlier one must learn no more from any line that the earlier one reads and that
// makes sense.
func TestAsGood(t *testing.T) {
	for other, name := range asGood {
		if slices.Index(detectable, name) > slices.Index(detectable, other) {
			t.Errorf("%s stands behind %s", name, other)
		}
		good, err := Named(name, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		same, err := Named(other, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, log := range manyLogs(t) {
			for _, line := range sampleLines(log) {
				tried += tryBoth(t, good, same, line)
				for at, c := range line[:min(len(line), 60)] {
					if strings.IndexByte(` -[]":.,`, c) >= 0 && tried%7 == 0 {
						tryBoth(t, good, same, slices.Concat(line[:at], []byte(" a"), line[at:]))
						tryBoth(t, good, same, slices.Delete(slices.Clone(line), at, at+1))
					}
				}
			}
		}
		if tried < 100 {
			t.Errorf("only %d lines", tried)
		}
	}
}

// tryBoth holds what two formats learn from a line against each other, and returns 1 if the first reads it.
func tryBoth(t *testing.T, good, same *parse.Format, line []byte) int {
	d, e := judge(good, [][]byte{line}, nil), judge(same, [][]byte{line}, nil)
	if d.sound == 1 && (e.score() > d.score() || e.learnt > d.learnt && e.sound == 1) {
		t.Errorf("%q: %s learns %d fields, %s %d", line, good.Name, d.learnt, same.Name, e.learnt)
	}
	return d.sound
}

// Logs of the same format share it: what is made for each format is made once.
func TestDetectorSharesFormats(t *testing.T) {
	d := NewDetector(Choice{})
	for _, k := range Catalogue() {
		for _, tail := range []string{"", ` 0.004 "-"`} {
			log := []byte(k.Example + tail + "\n")
			first, err := d.For(log)
			second, again := d.For(log)
			if err != nil || again != nil {
				continue
			}
			if first.Format != second.Format || !reflect.DeepEqual(first.Warnings, second.Warnings) {
				t.Errorf("%s%s: %p and %p", k.Name, tail, first.Format, second.Format)
			}
		}
	}
}
