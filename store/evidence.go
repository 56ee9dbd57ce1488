package store

import (
	"strings"

	"shadow/replay"
	"shadow/traffic/evidence"
)

// Evidence is kept as what it came to: the verdict on each client, and the reasons for those that a policy hit, since
// these are the ones that reports list. What the client did, which the verdict was found from, is not.

// Judge keeps what a jury makes of the clients with the run; nil keeps nothing. It must be called before Finish.
func (r *Run) Judge(jury *replay.Assessor) { r.jury = jury }

func (r *Run) writeEvidence(res *replay.Result) error {
	if r.jury == nil {
		return nil
	}
	hit := make([]bool, res.Clients.Len())
	for i := range res.Policies {
		for h := range res.Policies[i].Hits.All() {
			hit[h.Client] = true
		}
	}
	t := r.store.duck.table("client_evidence")
	for id := range int32(res.Clients.Len()) {
		switch {
		case res.Clients.At(id).Requests() == 0: // see writeClients
		case hit[id]:
			f := r.jury.Explain(id)
			t.add(r.id, id, f.Verdict.String(), f.Shared, strings.Join(f.Reasons, "\n"))
		default:
			f := r.jury.Find(id)
			t.add(r.id, id, f.Verdict.String(), f.Shared, nil)
		}
	}
	return t.done()
}

// readFindings reads what was found of clients, if any run has it. Of a client that several runs judged, the verdict is that
// of the run in which it had most requests; one that none of them judged is undecided.
func (l *loading) readFindings() error {
	res, judged := l.to.Result, map[int32]bool{}
	var found replay.Paged[replay.ClientVerdict]
	found.Grow(res.Clients.Len())
	for id := range int32(found.Len()) {
		found.At(id).Verdict = evidence.Undecided
	}
	err := l.each(`SELECT run, client, shared, verdict, reasons FROM client_evidence JOIN clients USING (run, client)
		WHERE run IN `+l.runs+` ORDER BY requests, run`, func(b *block, row int) error {
		run := values[int32](b, 0)[row]
		id, err := l.clients.at(run, values[int32](b, 1)[row])
		if err != nil {
			return err
		}
		judged[run] = true
		f := replay.ClientVerdict{Verdict: evidence.ParseVerdict(b.text(3, row)), Shared: values[bool](b, 2)[row]}
		if reasons := b.text(4, row); reasons != "" {
			f.Reasons = strings.Split(reasons, "\n")
		}
		*found.At(id) = f
		return nil
	})
	if err != nil || len(judged) == 0 {
		return err
	}
	res.ClientVerdicts = &found
	if len(judged) < len(l.order) {
		l.warn("%d of %d runs have no evidence: clients of those alone are undecided", len(l.order)-len(judged), len(l.order))
	}
	return nil
}
