package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"shadow/internal/policy"
	shadow "shadow/internal/request"
	"shadow/limit"
)

// Verdicts are kept as bits, 1 for an admitted request, first all of one client and then of the next, which packs well.

// byClient are the numbers of the requests of a schedule, client by client.
func byClient(all []request) (of [][]int) {
	for i, q := range all {
		for len(of) <= q.client {
			of = append(of, nil)
		}
		of[q.client] = append(of[q.client], i)
	}
	return of
}

// order are these numbers in one row.
func order(all []request) []int { return slices.Concat(byClient(all)...) }

func fileOf(name string) string { return filepath.Join("testdata", name+".gz") }

// record keeps the verdicts of a row and prints how many its limit shares.
func record(name string, admitted []bool, out io.Writer) error {
	i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
	if i < 0 {
		return fmt.Errorf("no row is called %q", name)
	}
	all := schedule()
	bits := make([]byte, (len(all)+7)/8)
	for at, request := range order(all) {
		if admitted[request] {
			bits[at/8] |= 1 << (at % 8)
		}
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is one
	if _, err := w.Write(bits); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(fileOf(name), packed.Bytes(), 0o644); err != nil {
		return err
	}
	days, err := lastRuns()
	if err == nil {
		days[name] = time.Now().UTC().Format(time.DateOnly)
		err = keepRuns(days)
	}
	if err != nil {
		return err
	}
	a, err := compare(all, rows[i].limit, admitted)
	fmt.Fprintf(out, "%-28s %-45s %s %% of %d; refused %d, here %d; %d bytes\n",
		name, rows[i].limit, a.percent(), a.requests, a.refused, a.here, packed.Len())
	return err
}

// runsFile has the day on which the real code of each row ran last: NAME, a tab, 2026-11-29.
const runsFile = "testdata/runs.tsv"

// lastRuns returns the days by the names of rows.
func lastRuns() (map[string]string, error) {
	text, err := os.ReadFile(runsFile)
	days := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, day, _ := strings.Cut(strings.TrimSpace(line), "\t")
		days[name] = day
	}
	return days, err
}

func keepRuns(days map[string]string) error {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(days)) {
		fmt.Fprintf(&text, "%s\t%s\n", name, days[name])
	}
	return os.WriteFile(runsFile, []byte(text.String()), 0o644)
}

// recorded are the verdicts that were kept of a row.
func recorded(all []request, name string) ([]bool, error) {
	file, err := os.Open(fileOf(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	bits, err := io.ReadAll(r)
	if err != nil || len(bits) != (len(all)+7)/8 {
		return nil, fmt.Errorf("%s: %d bytes (%w)", file.Name(), len(bits), err)
	}
	admitted := make([]bool, len(all))
	for at, request := range order(all) {
		admitted[request] = bits[at/8]>>(at%8)&1 == 1
	}
	return admitted, nil
}

// An agreement is how far a limit agrees with what was recorded.
type agreement struct{ requests, equal, refused, here int }

// percent never rounds up to 100.
func (a agreement) percent() string {
	if a.equal == a.requests {
		return "100"
	}
	return fmt.Sprintf("%.2f", float64(a.equal*10_000/a.requests)/100)
}

// compare judges the schedule by a limit, or by several that are charged together.
func compare(all []request, text string, admitted []bool) (a agreement, err error) {
	policies, err := policy.ParseLimits([]string{text}, shadow.ByClient)
	if err != nil {
		return a, err
	}
	a.requests = len(all)
	for _, of := range byClient(all) {
		for i, is := range judge(policies[0].Parts, times(all, of)) {
			if !is {
				a.here++
			}
			if !admitted[of[i]] {
				a.refused++
			}
			if is == admitted[of[i]] {
				a.equal++
			}
		}
	}
	return a, nil
}

// times returns the times of requests of the schedule.
func times(all []request, of []int) []limit.Time {
	at := make([]limit.Time, len(of))
	for i, request := range of {
		at[i] = all[request].at
	}
	return at
}

// judge reports which requests of a client are admitted.
func judge(parts []policy.Part, at []limit.Time) []bool {
	states, admitted := make([]limit.State, len(parts)), make([]bool, len(at))
	defer func() {
		for i := range states {
			states[i].Release()
		}
	}()
	if len(parts) == 1 {
		for i := range admitted {
			admitted[i] = true
		}
		for _, i := range parts[0].Limiter.Refuse(nil, &states[0], at) {
			admitted[i] = false
		}
		return admitted
	}
	for i, t := range at {
		admitted[i] = true
		for j, p := range parts {
			admitted[i] = admitted[i] && p.Limiter.Wait(&states[j], t) == 0
		}
		for j, p := range parts {
			p.Limiter.Charge(&states[j], t, !admitted[i])
		}
	}
	return admitted
}
