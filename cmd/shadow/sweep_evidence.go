package main

import (
	"shadow/replay"
	"shadow/sweep"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// Evidence about the clients of a sweep is gathered beside it, by a replay of the same batches without any policy. Once all
// of them have been seen it is judged, and the curves are drawn.

// witnessed is a source whose batches are seen by who gathers evidence first, if anybody does.
func (r *sweepRun) witnessed(src sweep.Source) sweep.Source {
	if r.witness == nil {
		return src
	}
	return &witnessedSource{src, r.witness}
}

type witnessedSource struct {
	sweep.Source
	witness *replay.Engine
}

// Next implements sweep.Source.
func (s *witnessedSource) Next() (*traffic.Batch, error) {
	b, err := s.Source.Next()
	if err == nil {
		err = s.witness.Judge(b)
	}
	return b, err
}

// hear judges what was gathered. In a second look there is nothing new to hear.
func (r *sweepRun) hear(stats ingest.Stats) {
	if r.witness != nil {
		r.jury = replay.NewAssessor(r.witness.Result(stats), r.judging)
		r.witness = nil
	}
}
