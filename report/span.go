package report

import (
	"time"

	"shadow/limit"
	"shadow/report/format"
)

// Layouts are how tables write times: with no more of the date than the span of the log needs.
type Layouts struct{ Second, Minute string }

// LayoutsFor returns how tables write the times of a span.
func LayoutsFor(s *Span) Layouts {
	switch {
	case s == nil || s.First.Format(time.DateOnly) == s.Last.Format(time.DateOnly):
		return Layouts{"15:04:05", "15:04"}
	case s.First.Format("2006") == s.Last.Format("2006"):
		return Layouts{"01-02 15:04:05", "01-02 15:04"}
	}
	return Layouts{"2006-01-02 15:04:05", "2006-01-02 15:04"}
}

// Length is the time from the first moment to the last.
func (s *Span) Length() limit.Time { return limit.Time(s.Last - s.First) }

// A Span is the time from the first counted request to the last.
type Span struct {
	First   format.Moment `json:"first"`
	Last    format.Moment `json:"last"`
	Seconds float64       `json:"seconds"`
}
