package ingest

import (
	"cmp"
	"slices"
)

// A log has lines that no limiter sees: a connection on which nothing came, a TLS handshake at a port for HTTP, a request line
// that cannot be read. The server answers them before it asks a limiter (nginx: 400 while it reads the request line, and
// limit_req comes in a later phase). parse.Record.NotHTTP marks them.

// NotHTTP says what becomes of these lines.
type NotHTTP uint8

// What becomes of lines that are not HTTP.
const (
	SkipNotHTTP  NotHTTP = iota // they are counted, and not judged
	JudgeNotHTTP                // they are judged as requests
)

// A StatusLines is how many lines have a status.
type StatusLines struct {
	Status int32 `json:"status"` // 0: not logged
	Lines  int64 `json:"lines"`
}

// ByStatus counts lines by their status, in its order. It holds at most a thousand, as a status has three digits.
type ByStatus []StatusLines

// Add counts n lines.
func (b *ByStatus) Add(status int32, n int64) {
	i, found := slices.BinarySearchFunc(*b, status, func(s StatusLines, status int32) int { return cmp.Compare(s.Status, status) })
	if !found {
		*b = slices.Insert(*b, i, StatusLines{Status: status})
	}
	(*b)[i].Lines += n
}

// AddAll counts the lines of others.
func (b *ByStatus) AddAll(others ByStatus) {
	for _, s := range others {
		b.Add(s.Status, s.Lines)
	}
}

// Less returns what b has counted since it was as before.
func (b ByStatus) Less(before ByStatus) (since ByStatus) {
	since = slices.Clone(b)
	for _, s := range before {
		since.Add(s.Status, -s.Lines)
	}
	return slices.DeleteFunc(since, func(s StatusLines) bool { return s.Lines == 0 })
}

// Lines is how many there are.
func (b ByStatus) Lines() (n int64) {
	for _, s := range b {
		n += s.Lines
	}
	return n
}
