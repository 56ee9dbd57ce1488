package replay

import (
	"shadow/sample"
	"shadow/traffic"
)

// A Sampled is an Observer of a replay of a sample: it weighs what tallies sum up over all clients, each request by the
// probability of its client.
type Sampled struct {
	Design   *sample.Design
	Policies []SampledPolicy

	// Requests of the sample by action id.
	Actions []int64
}

// A SampledPolicy is what one policy did to the requests of the sample.
type SampledPolicy struct {
	Actions  []sample.Sum // refused, by action id
	Bytes    sample.Sum   // that the refused requests were answered with
	Upstream sample.Sum   // microseconds that upstreams spent on them
	Delayed  sample.Sum   // requests that had to wait
}

// Observe implements Observer.
func (s *Sampled) Observe(b *traffic.Batch, verdicts []Verdicts) error {
	if b.Warm {
		return nil
	}
	for _, action := range b.Action {
		s.Actions = grow(s.Actions, int(action)+1)
		s.Actions[action]++
	}
	s.Policies = grow(s.Policies, len(verdicts))
	for i := range verdicts {
		p := &s.Policies[i]
		for _, row := range verdicts[i].Refused {
			probability, action := s.Design.Probability(b.Client[row]), int(b.Action[row])
			p.Actions = grow(p.Actions, action+1)
			p.Actions[action].Add(1, probability)
			p.Bytes.Add(b.Bytes[row], probability)
			if b.Upstream != nil {
				p.Upstream.Add(b.Upstream[row], probability)
			}
		}
		for _, late := range verdicts[i].Delayed {
			p.Delayed.Add(1, s.Design.Probability(b.Client[late.Index]))
		}
	}
	return nil
}

// OfSample makes the result of a replay of a sample one of the whole log, as far as figures are known without a verdict.
func (r *Result) OfSample(census *sample.Census, s *Sampled) {
	for id := range int32(min(r.Clients.Len(), census.Clients.Len())) {
		census.Clients.At(id).LastAgent = r.Clients.At(id).LastAgent
	}
	r.Sample, r.Clients, r.Actions, r.OverTime = s, &census.Clients, census.Actions, nil
	s.Policies = grow(s.Policies, len(r.Policies))
	s.Actions = grow(s.Actions, len(r.Actions))
	for i := range r.Policies {
		p := &r.Policies[i]
		p.Requests, p.ByAction = census.Requests, grow(p.ByAction, len(r.Actions))
		s.Policies[i].Actions = grow(s.Policies[i].Actions, len(r.Actions))
	}
}
