package suggest

import (
	"shadow/policy"
	"shadow/request"
	"shadow/sweep"
)

// Most who ask have an nginx in front. It has token buckets only, of whole requests per second or minute, and counts in
// thousandths of a request and in milliseconds. So what nginx is told is a limit of its own, with figures of its own.

// Nginx is what nginx is to be told: the best bucket that it has or, where nothing is suggested, the first such ceiling.
type Nginx struct {
	Of     *Suggestion // nil: it is a ceiling
	Limit  string      // the bucket as replay takes it, scaled
	Twin   policy.NginxTwin
	Answer bool // whether that is the answer itself
	// Measured is what nginx's own arithmetic comes to, on the log as it is. Its Limit is the bucket's burst; 0 if the
	// scale leaves nothing to measure.
	Measured Candidate
}

// twin is the nginx limit of a suggestion's candidate, scaled or not; false unless nginx has such a bucket.
func (a *Advice) twin(s *Suggestion, n int64, scaled bool) (policy.NginxTwin, bool) {
	text, ok := s.Shape.Limit(n), true
	if scaled {
		text, ok = a.Text(s, n)
	}
	if !ok || s.Kind != sweep.Token {
		return policy.NginxTwin{}, false
	}
	bucket, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		return policy.NginxTwin{}, false
	}
	twin, ok := policy.NginxOf(bucket[0])
	if !ok {
		return policy.NginxTwin{}, false
	}
	_, err = policy.ParseLimits([]string{twin.Limit()}, request.ByClient)
	return twin, err == nil
}

// Steady is the limit that was chosen or, if that does not hold on the rest, the one that keeps the promise on both parts.
func (s *Suggestion) Steady() int64 { return max(s.Chosen.Limit, s.Both.Limit) }

// BestNginx chooses what nginx is to be told. What the chosen buckets refuse must be known.
func (a *Advice) BestNginx() {
	var best *Suggestion
	for i := range a.Suggestions {
		s := &a.Suggestions[i]
		if s.InNginx && a.RefusedTarget(&s.Chosen) > 0 && (best == nil || a.Compare(s, best) < 0) {
			best = s
		}
	}
	if best == nil {
		return
	}
	n := &Nginx{Of: best, Answer: a.BestOfAll()[0] == best}
	var ok bool
	n.Limit, _ = a.Text(best, best.Steady())
	if n.Twin, ok = a.twin(best, best.Steady(), true); !ok {
		return
	}
	a.Nginx = n
}

// measured is the limit to replay for what nginx's arithmetic comes to.
func (n *Nginx) measured(a *Advice) []Priced {
	if n.Of == nil {
		return nil
	}
	twin, ok := a.twin(n.Of, n.Of.Steady(), false)
	if !ok {
		return nil
	}
	n.Measured.Limit = n.Of.Steady()
	return []Priced{{&n.Measured, twin.Limit()}}
}
