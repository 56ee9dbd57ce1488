package suggest

import (
	"context"

	"shadow/policy"
	"shadow/replay"
	"shadow/sample"
	"shadow/traffic"
)

// On a sample, limits are chosen by a part of the clients. What that says of the others is not what was seen of those who
// chose. So the answer is judged once more, by clients that a second hash draws: they had no say in it.
//
// How many clients to protect it hits follows from those that were drawn alike: they are a sample without replacement. The
// bound of the binomial distribution (see MostHit) holds for it as well (W. Uhlmann, Vergleich der hypergeometrischen mit
// der Binomial-Verteilung, Metrika 10 (1966), 145–158). What it refuses follows from a sample by size: see sample.Sum.

// A SampleProof is what a second sample tells of an answer over the whole log.
type SampleProof struct {
	Goals    []GoalProof
	Refused  sample.Interval // requests of the target, of the whole log
	Requests int64           // of the target
}

// A GoalProof is what it tells of one promise.
type GoalProof struct {
	Goal
	Clients int64   // of the log
	Drawn   int64   // of these, in the second sample
	Hit     int64   // of these
	MostHit Percent // of Clients, with 95 % confidence
	Needed  float64 // the share of the clients that a sample must have to show the promise, in percent; 0: none can
}

// Kept reports whether the sample shows that the promise is kept.
func (p *GoalProof) Kept() bool { return p.MostHit <= whole-p.Percent }

// census counts the clients that the survey found.
func (d *Advisor) census() *sample.Census {
	return &sample.Census{Tables: d.Tables, Tallies: traffic.Tallies{Clients: *d.Found.Clients}}
}

// Draw draws the clients that limits are tried on. Those to protect are drawn alike, since a promise is about their number.
// The others are drawn by size: a few of them may send most of what is to be refused.
func (d *Advisor) Draw(o sample.Options) *sample.Design {
	census := d.census()
	bySize := census.Draw(o, sample.ByClient)
	o.Even = true
	drawn := census.Draw(o, sample.ByClient)
	protected := d.Protected()
	drawn.Join(bySize, func(client int32) bool { return !protected.Has(d.labels.Of(client)) })
	return drawn
}

// Prove judges the answer by clients that did not choose it. all hands over all requests. Without an answer there is no
// proof.
func (d *Advisor) Prove(ctx context.Context, o sample.Options, all func(func(*traffic.Batch) error) error) (*SampleProof, error) {
	a := d.tracks[0].advice
	if a.Answer.Of == nil {
		return nil, nil
	}
	limit, ok := a.Answer.Of.family.text(a.Answer.Chosen.Limit)
	if !ok {
		return nil, nil
	}
	p, err := d.tracks[0].policy(0, limit)
	if err != nil {
		return nil, err
	}
	census := d.census()
	alike := census.Draw(sample.Options{Share: o.Share, Seed: o.Seed + " proof", Even: true}, sample.ByClient)
	bySize := census.Draw(sample.Options{Share: o.Share, Seed: o.Seed + " size"}, sample.ByClient)
	engine := replay.New(replay.Options{
		Tables: d.Tables, Policies: []policy.Policy{p}, Lateness: d.Lateness, Bare: true, Stop: ctx.Err,
	})
	source := sample.Source{Has: func(client int32) bool { return alike.Has(client) || bySize.Has(client) }}
	if err := all(func(b *traffic.Batch) error { return engine.Judge(source.Of(b)) }); err != nil {
		return nil, err
	}
	hits := &engine.Result(d.Found.Stats).Policies[0].Hits
	return d.proof(a, alike, bySize, hits), nil
}

// proof is what hits tell, of which two samples have their parts.
func (d *Advisor) proof(a *Advice, alike, bySize *sample.Design, hits *replay.Hits) *SampleProof {
	s := new(SampleProof)
	for _, goal := range a.Goals {
		p := GoalProof{Goal: goal}
		for id := range int32(d.Found.Clients.Len()) {
			if !goal.Who.Has(d.labels.Of(id)) || d.Found.Clients.At(id).Requests() == 0 {
				continue
			}
			p.Clients++
			if !alike.Has(id) {
				continue
			}
			p.Drawn++
			if _, hit := hits.Find(id); hit {
				p.Hit++
			}
		}
		p.MostHit = MostHit(p.Drawn, p.Hit)
		if needed := goal.Sample(); needed < p.Clients {
			p.Needed = 100 * float64(needed) / float64(p.Clients)
		}
		s.Goals = append(s.Goals, p)
	}
	var sum sample.Sum
	targeted := func(id int32) bool { return a.Target.Has(d.labels.Of(id)) }
	for hit := range hits.All() {
		if targeted(hit.Client) && bySize.Has(hit.Client) {
			sum.Add(hit.Refused, bySize.Probability(hit.Client))
		}
	}
	bound := bySize.Bound(func(id int32) int64 {
		if !targeted(id) {
			return 0
		}
		n := d.Found.Clients.At(id).Requests()
		s.Requests += n
		return n
	})
	s.Refused = sum.Interval(bound, sample.Miss)
	return s
}
