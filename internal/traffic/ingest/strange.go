package ingest

import (
	"fmt"
	"slices"
	"strings"

	"shadow/parse"
)

// A field that is read as the client's address and holds something else, such as the half of a time, shows that lines are read by
// a format that is not theirs. Limits would then count by it, so a log of which more than a hundredth of the lines are such is
// an error. The question is asked once for each client, and a line costs a look into a table.

// A clientShape says whether a client can be an address or the name of a host.
type clientShape uint8

const (
	shapeUnknown clientShape = iota
	shapeHost
	shapeStrange
)

// strangeShown is the most strange clients that are shown.
const strangeShown = 3

// strangers count requests of strange clients.
type strangers struct {
	lines int64
	shown []string // some of them
}

// meet takes in the request of a client, whose id is that of its key.
func (in *intake) meet(s *strangers, id int32, key []byte) {
	if int(id) >= len(in.strange) {
		in.strange = append(in.strange, make([]clientShape, max(int(id)+1, 2*len(in.strange))-len(in.strange))...)
	}
	if in.strange[id] == shapeUnknown {
		in.strange[id] = shapeHost
		if !parse.IsClient(key) {
			in.strange[id] = shapeStrange
		}
	}
	if in.strange[id] == shapeStrange {
		s.add(1, string(key))
	}
}

// add counts lines, and shows some of their clients.
func (s *strangers) add(lines int64, clients ...string) {
	s.lines += lines
	for _, client := range clients {
		if len(s.shown) < strangeShown && !slices.Contains(s.shown, client) {
			s.shown = append(s.shown, client)
		}
	}
}

// tooMany reports whether the clients of so many lines are strange in more than a hundredth of them. One or two lines can be so by
// accident, unless there are hardly any others.
func (s *strangers) tooMany(lines int64) bool {
	return 100*s.lines > lines && (s.lines >= strangeShown || 2*s.lines > lines)
}

// A StrangeClientsError reports that a field is read as the client's address and is none.
type StrangeClientsError struct {
	Input  string // its name; "": of a sample
	Format string
	Lines  int64 // with a strange client
	Of     int64
	Shown  []string // some of these clients: bytes that any client may have sent
}

func (e *StrangeClientsError) Error() string {
	shown := make([]string, len(e.Shown))
	for i, client := range e.Shown {
		shown[i] = fmt.Sprintf("%.80q", client)
	}
	text := fmt.Sprintf("%d of %d lines have a client that is neither an address nor the name of a host: %s; lines seem to be of another format than %s: "+
		"state theirs with --format, after a look with `shadow doctor parse`; or with --client FIELD, the field that tells clients apart, whatever it holds",
		e.Lines, e.Of, strings.Join(shown, ", "), e.Format)
	if e.Input != "" {
		text = e.Input + ": " + text
	}
	return text
}

// soonStrange is after how many lines a log most of whose clients are strange is given up, rather than at its end.
const soonStrange = 10_000

// strangeClients returns the error of an input that has come to its end, or of which enough is known; nil if it has
// none.
func (f *feed) strangeClients(end bool) error {
	s := &f.strange
	if end && !s.tooMany(f.requests) || !end && (f.requests < soonStrange || 2*s.lines < f.requests) {
		return nil
	}
	return &StrangeClientsError{f.name, f.format.Name, s.lines, f.requests, s.shown}
}

// strangeIn returns the error of a sample whose clients are strange.
func (o *Options) strangeIn(sample []byte, format *parse.Format) error {
	if !o.Clients.IsAddress() {
		return nil
	}
	var s strangers
	var lines int64
	clients := o.Clients.NewExtractor()
	for record := range records(sample, format) {
		lines++
		if key := clients.Key(record); !parse.IsClient(key) {
			s.add(1, string(key))
		}
	}
	if !s.tooMany(lines) {
		return nil
	}
	return &StrangeClientsError{"", format.Name, s.lines, lines, s.shown}
}
