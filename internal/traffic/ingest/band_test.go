package ingest

import (
	"context"
	"io"
	"testing"

	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/parse/detect"
)

// How coarse stamps are is told by each batch. A log that has fractions has them everywhere: a stamp of .000 is none
// in whole seconds.
func TestCoarseness(t *testing.T) {
	const (
		untimed = `$remote_addr [$msec] "$request" $status`
		timed   = untimed + ` $request_time`
		whole   = "192.0.2.1 [1767268801.000] \"GET / HTTP/1.1\" 200 0.000\n192.0.2.1 [1767268802.000] \"GET / HTTP/1.1\" 200 0.400\n"
		fine    = "192.0.2.1 [1767268800.500] \"GET / HTTP/1.1\" 200 0.000\n192.0.2.1 [1767268801.000] \"GET / HTTP/1.1\" 200 0.000\n"
	)
	dir := t.TempDir()
	coarse, precise := write(t, dir, "whole.log", whole), write(t, dir, "fine.log", fine)
	for name, try := range map[string]struct {
		names  []string
		format string
		band   bool
		want   traffic.Coarseness
		whole  int64
	}{
		"not wanted":             {[]string{coarse}, timed, false, traffic.Coarseness{}, 0},
		"milliseconds":           {[]string{precise}, timed, true, traffic.Coarseness{}, 0},
		"whole seconds":          {[]string{coarse}, timed, true, traffic.Coarseness{Slack: 999_999}, 2},
		"without request times":  {[]string{coarse}, untimed + " $anything", true, traffic.Coarseness{Slack: 999_999, Ends: true}, 2},
		"the coarsest of two":    {[]string{precise, coarse}, timed, true, traffic.Coarseness{Slack: 999_999}, 2},
		"both with milliseconds": {[]string{precise, precise}, timed, true, traffic.Coarseness{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := readingOptions(t)
			o.Format, o.Band, o.Lateness = detect.Choice{Format: try.format}, try.band, limit.Minute
			r, err := NewReader(context.Background(), try.names, nil, o)
			check(t, err)
			defer r.Close()
			for {
				b, err := r.Next()
				if err == io.EOF {
					break
				}
				check(t, err)
				if b.Stamps != try.want {
					t.Errorf("%+v, want %+v", b.Stamps, try.want)
				}
			}
			if n := r.Stats().Whole; n != try.whole {
				t.Errorf("%d requests in whole seconds, want %d", n, try.whole)
			}
		})
	}
}
