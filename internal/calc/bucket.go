package calc

import (
	"fmt"
	"math"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// A Bucket is a token bucket, and a client that it meets.
type Bucket struct {
	Capacity int64 // tokens
	Initial  int64 // tokens at the beginning
	Refill   Rate  // tokens
	Window   limit.Time
	Pattern  Pattern
	Seed     uint64
}

// Figures are the numbers of a bucket. docs/calc.md has their formulas.
type Figures struct {
	Limit         string  `json:"limit"` // as --limit takes it
	Capacity      int64   `json:"capacity"`
	Initial       int64   `json:"initial"`
	WindowSeconds float64 `json:"window_seconds"`
	Pattern       string  `json:"pattern"`
	Seed          *uint64 `json:"seed,omitempty"` // of a random pattern

	Sustainable          float64 `json:"sustainable_per_second"`
	SecondsToFull        float64 `json:"seconds_to_full"`
	EffectiveFromFull    float64 `json:"effective_per_second_from_full"`
	EffectiveFromInitial float64 `json:"effective_per_second_from_initial"`
	LeftWithout          float64 `json:"tokens_after_window_without_requests"`
	Left                 float64 `json:"tokens_after_window"`

	Requests int64 `json:"requests"`
	Admitted int64 `json:"admitted"`
	Refused  int64 `json:"refused"`

	// Tokens lists the tokens in the bucket at moments spread evenly over the window, first and last included: each the
	// fewest since the moment before.
	Tokens []float64 `json:"tokens"`
}

// Leaving returns the steady client after whose window so many tokens are left: it takes out what was in the bucket and
// flows in, but for these. Where the bucket begins empty its first request is refused, and one more takes them out.
func (b Bucket) Leaving(left int64) (Pattern, error) {
	taken := math.Round(float64(b.Initial) + b.Refill.PerSecond()*seconds(b.Window) - float64(left))
	if taken > MaxRequests {
		return Pattern{}, fmt.Errorf("takes more than %d requests; take a shorter window or a lower rate", MaxRequests)
	}
	for _, n := range []float64{taken, taken + 1} {
		var err error
		if b.Pattern, err = ParsePattern(fmt.Sprintf("constant:%.0f/%s", max(1, n), limit.FormatPeriod(b.Window))); err != nil {
			return Pattern{}, err
		}
		f, err := b.Calc(2)
		if err != nil || math.Abs(f.Left-float64(left)) < 1 {
			return b.Pattern, err
		}
	}
	return Pattern{}, fmt.Errorf("no steady client leaves them; without requests %.0f are left", b.figures().LeftWithout)
}

// Calc works the numbers out, and lets the limiter itself judge the client's requests. The tokens are sampled
// at so many moments, at least 2.
func (b Bucket) Calc(moments int) (Figures, error) {
	spec, err := limit.Parse(fmt.Sprintf("token:%d/%s,burst=%d,initial=%d",
		b.Refill.Count, limit.FormatPeriod(b.Refill.Per), b.Capacity, b.Initial))
	if err != nil {
		return Figures{}, err
	}
	if n := b.Pattern.Requests(b.Window); n > MaxRequests {
		return Figures{}, fmt.Errorf("pattern %s: sends more than %d requests in %s; take a shorter window or a lower rate",
			b.Pattern, MaxRequests, limit.FormatPeriod(b.Window))
	}
	bucket, err := policy.New(spec, request.ByClient)
	if err != nil {
		return Figures{}, err
	}
	var opened limit.State // for a key never seen time does not count
	bucket.Parts[0].Limiter.Charge(&opened, 0, true)
	run := Simulate(bucket.Parts[0].Limiter, opened, 0, b.Window, b.Pattern.Moments(b.Window, b.Seed), moments)
	f := b.figures()
	f.Limit = spec.String()
	f.Requests, f.Admitted, f.Refused = run.Requests, run.Admitted, run.Refused
	f.Left = b.tokens(run.Last)
	f.Tokens = mapped.Add(f.Tokens, run.Levels, b.tokens)
	return f, nil
}

// tokens returns the tokens left when some are missing, to the millionth: what floating point makes of more is noise.
func (b Bucket) tokens(missing float64) float64 {
	return math.Round((float64(b.Capacity)-missing)*1e6) / 1e6
}

// figures returns the figures that take no client.
func (b Bucket) figures() Figures {
	capacity, initial := float64(b.Capacity), float64(b.Initial)
	refill, window := b.Refill.PerSecond(), seconds(b.Window)
	f := Figures{
		Capacity: b.Capacity, Initial: b.Initial, WindowSeconds: window, Pattern: b.Pattern.String(),
		Sustainable:          refill,
		SecondsToFull:        (capacity - initial) / refill,
		EffectiveFromFull:    refill + capacity/window,
		EffectiveFromInitial: refill + initial/window,
		LeftWithout:          min(capacity, initial+refill*window),
	}
	if b.Pattern.Random() {
		f.Seed = &b.Seed
	}
	return f
}
