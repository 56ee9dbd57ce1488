package redis

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A server that was started again, or that another one stands in for, may have lost what it knew. No command fails for
// that. So each new connection asks the server for its run_id.
//
// A replica that takes over has lost nothing if it has all that its master had answered. Redis numbers the bytes that a
// master sends to its replicas, its stream. So in a cluster and with sentinels each round asks for more:
//
//	run_id                             of this start of the server
//	master_replid, master_repl_offset  its stream, and the bytes of it so far
//	master_replid2                     the stream that it followed before it became a master
//	second_repl_offset                 the first byte of that which it lacks
//
// What the round was answered lies before master_repl_offset. A new master that has as much of that stream is as good
// as the old one.

// info holds what a server says about itself.
type info struct {
	run          string
	replica      bool
	stream       string
	offset       int64
	followed     string
	followedNext int64
}

// infoFields lists the fields of INFO that info needs, as arguments of scripts/info.lua.
var infoFields = []any{
	"run_id", "role", "master_replid", "master_repl_offset", "master_replid2", "second_repl_offset",
}

// parseInfo reads the answer of INFO, or a part of it.
func parseInfo(text string) (i info) {
	fields := fieldsOf(text)
	i.run, i.replica = fields["run_id"], fields["role"] == "slave"
	i.stream, i.followed = fields["master_replid"], strings.Trim(fields["master_replid2"], "0") // all 0: none
	i.offset, _ = strconv.ParseInt(fields["master_repl_offset"], 10, 64)
	i.followedNext, _ = strconv.ParseInt(fields["second_repl_offset"], 10, 64)
	if i.followed != "" {
		i.followed = fields["master_replid2"]
	}
	return i
}

// fieldsOf reads lines of the form name:value.
func fieldsOf(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			fields[name] = value
		}
	}
	return fields
}

// servers holds the servers that were met, by run_id.
type servers struct {
	mu       sync.Mutex
	runs     map[string]string // the stream of each; "": not known
	relied   map[string]int64  // of a stream: up to where this host relies on it
	complete bool              // all have been met, so any other is a new one
	restarts int               // new servers met since that may have lost something
}

// settle says that all servers have been met: those of earlier runs, if any are given, with what was relied on.
func (s *servers) settle(relied map[string]int64, runs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complete = true
	if len(runs) == 0 {
		return
	}
	s.runs, s.relied = map[string]string{}, maps.Clone(relied)
	for _, run := range runs {
		s.runs[run] = ""
	}
}

// meet takes in what a server says. judged says that it has just answered a round, which lies in its stream before
// the offset that it states.
func (s *servers) meet(i info, judged bool) {
	if i.run == "" || i.replica {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, known := s.runs[i.run]
	if stream == "" && (len(s.relied) == 0 || s.relied[i.stream] > 0) {
		stream = i.stream // known from a checkpoint, which does not say whose streams it relies on
	}
	// A master also takes a new stream when its first replica comes, having followed no server.
	same := known && (stream == i.stream || i.followed == "")
	if s.complete && !same && !s.succeeds(i) {
		s.restarts++
	}
	if s.runs == nil {
		s.runs = map[string]string{}
	}
	s.runs[i.run] = i.stream
	if judged {
		if s.relied == nil {
			s.relied = map[string]int64{}
		}
		s.relied[i.stream] = max(s.relied[i.stream], i.offset)
	}
}

// succeeds reports whether a server has all that this host relies on of the server that it has followed.
func (s *servers) succeeds(i info) bool {
	offset, is := s.relied[i.followed]
	return is && i.followedNext > offset
}

// met are the servers that were met, and what of their streams is relied on.
func (s *servers) met() (runs []string, relied map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.runs)), maps.Clone(s.relied)
}

// restarted counts the servers met since that may have lost something.
func (s *servers) restarted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restarts
}
