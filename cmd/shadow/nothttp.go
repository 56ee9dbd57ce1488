package main

import (
	"fmt"
	"slices"

	"shadow/traffic/ingest"
)

// notHTTP is the value of --not-http.
type notHTTP ingest.NotHTTP

var notHTTPWords = [...]string{ingest.SkipNotHTTP: "skip", ingest.JudgeNotHTTP: "judge"}

func (n *notHTTP) String() string { return notHTTPWords[*n] }

func (n *notHTTP) Type() string { return "what" }

func (n *notHTTP) Set(text string) error {
	i := slices.Index(notHTTPWords[:], text)
	if i < 0 {
		return fmt.Errorf("want skip or judge")
	}
	*n = notHTTP(i)
	return nil
}

// unlikelyNotHTTP warns of skipped lines that may be requests all the same, in another writing than the format's: most lines are
// skipped, or the server has answered some as it answers requests.
func unlikelyNotHTTP(s *ingest.Stats) []string {
	skipped := s.NotHTTP.Lines()
	if s.JudgesNotHTTP || skipped == 0 {
		return nil
	}
	all, answered := s.Parsed-s.Excluded, int64(0)
	for _, n := range s.NotHTTP {
		if n.Status >= 200 && n.Status < 400 {
			answered += n.Lines
		}
	}
	const advice = "if the log writes requests in another way, state its --format; --not-http judge takes these lines for requests"
	switch {
	case 100*answered > all:
		return []string{fmt.Sprintf("%d of %d lines have no request line of HTTP and are not judged, though the server answered %d of them with a status "+
			"from 200 to 399: %s", skipped, all, answered, advice)}
	case 2*skipped > all:
		return []string{fmt.Sprintf("%d of %d lines have no request line of HTTP and are not judged: %s", skipped, all, advice)}
	}
	return nil
}
