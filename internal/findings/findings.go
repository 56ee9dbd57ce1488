// Package findings looks at a log before people believe an answer about it: batches of requests and the statistics of
// their reading come in; a list of findings goes out, the gravest first.
//
// A finding is about the log, never about a limit: copies of a file, clients that stand for many people, a server that
// already refuses. Each comes from a looker, which has a file of its own here; docs/findings.md describes all codes.
package findings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// A Severity says what a finding means for an answer.
type Severity uint8

// The severities, the gravest first.
const (
	Stop Severity = iota // forbids an answer
	Warn                 // an answer may be another one than was meant
	Info                 // good to know
)

var severities = [...]string{Stop: "stop", Warn: "warn", Info: "info"}

func (s Severity) String() string { return severities[s] }

// MarshalText writes the severity as JSON has it.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severities[:], string(text))
	if i < 0 {
		return fmt.Errorf("severity %q: want one of %q", text, severities)
	}
	*s = Severity(i)
	return nil
}

// A Share is the part of all requests that a finding concerns, from 0 to 1. NoShare is that of a finding that concerns
// none in particular; JSON has null for it.
type Share float64

// NoShare says that a share has no meaning.
const NoShare Share = -1

// ShareOf is the part that n are of all, 0 of none.
func ShareOf(n, all int64) Share { return Share(float64(n) / float64(max(all, 1))) }

// MarshalJSON writes a number, or null.
func (s Share) MarshalJSON() ([]byte, error) {
	if s < 0 {
		return []byte("null"), nil
	}
	return json.Marshal(float64(s))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (s *Share) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*s = NoShare
		return nil
	}
	return json.Unmarshal(text, (*float64)(s))
}

// A Finding is one thing to know of a log. Its texts may hold names that strangers have written.
type Finding struct {
	Code     string   `json:"code"` // one of Codes
	Severity Severity `json:"severity"`
	Share    Share    `json:"share"`
	Evidence string   `json:"evidence"` // a sentence with figures
	Remedy   string   `json:"remedy"`   // the flags to add; "": none

	Covers []string `json:"-"` // warnings that say the same: people read them once
	Brief  string   `json:"-"` // the evidence for a screen of few lines; "": as it is
}

// String is the finding as people read it.
func (f *Finding) String() string {
	if f.Remedy == "" {
		return f.Evidence
	}
	return f.Evidence + "; try " + f.Remedy
}

// rank returns 0 for what an attack got, which matters more than how much it sent, and for what makes every figure too
// small or too large; else 1.
func (f *Finding) rank() int {
	switch f.Code {
	case "secrets_served", "password_guessed", "partial", "copies":
		return 0
	case "proxy_as_client":
		if f.Severity == Stop {
			return 0
		}
	}
	return 1
}

// ByEffect orders findings: by severity, then by rank, then by the requests concerned, then by code.
func ByEffect(f, g Finding) int {
	return cmp.Or(cmp.Compare(f.Severity, g.Severity), cmp.Compare(f.rank(), g.rank()), cmp.Compare(g.Share, f.Share), cmp.Compare(f.Code, g.Code))
}

// Anonymized is the finding with addresses renamed, and without flags that would name one.
func (f Finding) Anonymized(rename func(string) string) Finding {
	f.Evidence, f.Brief = rename(f.Evidence), rename(f.Brief)
	if rename(f.Remedy) != f.Remedy {
		f.Remedy = ""
	}
	return f
}
