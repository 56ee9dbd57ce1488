package servers

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
)

// Lines are pasted into a configuration that may limit already. They must not switch that off: where a server hands
// settings down, or takes the first rule only, the configuration decides what the lines must be.

// A Within is what limits already in a configuration into which lines are pasted. nil: it is not known.
type Within struct {
	file     string
	places   []*nginxPlace  // of nginx; the first is http
	counters map[int]string // of HAProxy: those that rules take, and where
	most     int            // how many counters HAProxy has
}

// ReadWithin reads the configuration of a server. It returns nil for a server of which nothing is to be known, and for
// what is only a part of nginx's configuration.
func ReadWithin(server, file string) (*Within, error) {
	switch {
	case file == "":
		return nil, nil //nolint:nilnil // it is not known
	case server == nginxTarget.Name:
		return readNginxWithin(file)
	case server == haproxyTarget.Name:
		return readHAProxyWithin(file)
	}
	return nil, nil //nolint:nilnil // the same
}

var (
	haproxyTracks = lazy.Regexp(`^\s*(?:http|tcp)-\w+\s+(?:\w+\s+)?track-sc(\d+)\s`)
	haproxyMost   = lazy.Regexp(`^\s*tune\.stick-counters\s+(\d+)`)
)

// readHAProxyWithin finds the counters that rules take, in any section: a request goes from one to another.
func readHAProxyWithin(file string) (*Within, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := &Within{file: file, counters: map[int]string{}, most: haproxyCounters}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if most := haproxyMost().FindStringSubmatch(lines.Text()); most != nil {
			w.most, _ = strconv.Atoi(most[1])
		}
		if c, ok := haproxyTracked(lines.Text()); ok && w.counters[c] == "" {
			w.counters[c] = fmt.Sprintf("%s:%d", file, n)
		}
	}
	return w, lines.Err()
}

// haproxyTracked returns the counter that a rule takes.
func haproxyTracked(line string) (counter int, ok bool) {
	parts := haproxyTracks().FindStringSubmatch(line)
	if parts == nil {
		return 0, false
	}
	counter, err := strconv.Atoi(parts[1])
	return counter, err == nil
}

// free returns the counters that no rule takes, the highest first: the first rule that fits a request takes a counter,
// and configurations take them from the lowest on.
func (w *Within) free() (counters []int) {
	if w == nil || w.counters == nil {
		w = &Within{most: haproxyCounters}
	}
	for c := w.most - 1; c >= 0; c-- {
		if w.counters[c] == "" {
			counters = append(counters, c)
		}
	}
	return counters
}

// behind says where rules that take counters must stand.
func (w *Within) behind(counters []int) string {
	const place = "behind all rules with track-sc"
	if w != nil && w.counters != nil {
		return place
	}
	names := mapped.Of(counters, func(c int) string { return fmt.Sprintf("sc%d", c) })
	return place + ", none of which may take " + strings.Join(names, ", ") + " too: the later rule tracks nothing"
}

// Judge returns an error if lines would switch off what limits already.
func (w *Within) Judge(blocks []Block) error {
	if w.places != nil {
		return w.judgeNginx(blocks)
	}
	var all []error
	for _, b := range blocks {
		for _, line := range b.Lines {
			if c, ok := haproxyTracked(line); ok && w.counters[c] != "" {
				all = append(all, fmt.Errorf("sc%d is taken at %s: of two rules for it one tracks nothing", c, w.counters[c]))
			}
		}
	}
	slices.SortFunc(all, func(x, y error) int { return strings.Compare(x.Error(), y.Error()) })
	return errors.Join(slices.CompactFunc(all, func(x, y error) bool { return x.Error() == y.Error() })...)
}
