package main

import (
	"github.com/spf13/cobra"

	"shadow/replay"
	"shadow/report"
	"shadow/report/curves"
	"shadow/request"
	"shadow/store"
	"shadow/sweep"
	"shadow/traffic"
)

// A stored sweep has curves and no policies, so its report is the one that shadow sweep printed.

// curvesOnly reports whether the report is about one run, and that a sweep.
func (m *pageMaker) curvesOnly() bool {
	return len(m.runs) == 1 && m.runs[0].Policies == 0 && m.runs[0].Curves > 0
}

// writeSweep prints the curves of the run. Where they lack what reports need, it prints what is known of the run.
func (f *reportFlags) writeSweep(cmd *cobra.Command, model *report.Model, found *pageMaker) error {
	stored, err := found.db.Curves(found.runs[0].Run)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if stored == nil { // curves of kinds that this version does not know
		return model.Write(w, f.output)
	}
	result, err := sweptResult(found.loaded.Result, stored)
	if err != nil {
		return err
	}
	swept := curves.New(result, found.options)
	swept.History = model.History
	return swept.Write(w, f.output)
}

// sweptResult is what the sweep found, as far as it is stored.
func sweptResult(res *replay.Result, s *store.Swept) (*sweep.Result, error) {
	key, err := request.ParseKey(s.By)
	return &sweep.Result{
		Stats: res.Stats, Tables: res.Tables, Tallies: &traffic.Tallies{Clients: *res.Clients, Actions: res.Actions},
		By: key, Action: s.Action, Judged: s.Judged, Clients: s.Clients, ByClass: s.Requests, Hidden: s.Hidden, Curves: s.Curves,
	}, err
}
