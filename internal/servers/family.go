package servers

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// A Kind is what the limits of a server count by, as far as a curve over their size goes.
type Kind uint8

// The kinds. Their names are those of package sweep.
const (
	Window    Kind = iota // admitted requests of the last period
	Fixed                 // admitted requests of a fixed period
	WindowAll             // requests of the last period, refused ones too
	Token                 // tokens of a bucket
)

// String is the kind as --kind takes it.
func (k Kind) String() string {
	return [...]string{"window", "fixed", "window,charge=all", "token"}[k]
}

// A Family is the limits of a server that differ only in how many requests they admit at once. Where servers differ
// from the curve of the same kind, a replay of Limit says by how much.
type Family struct {
	Server *Server
	Kind   Kind
	Count  int64      // how many tokens flow into a bucket per period; 0 for windows
	Per    limit.Time // the period of the bucket, or the length of the window
}

// rate is one setting of a server's grid: of windows only the period.
type rate struct {
	count int64
	per   limit.Time
}

// Families are the rates and periods that are tried on the server, the slowest and longest last.
func (s *Server) Families() []Family {
	return mapped.Of(s.grid, func(r rate) Family { return Family{s, s.kind, r.count, r.per} })
}

// Limit is the limit that admits n requests at once to a client never seen, in the server's own arithmetic, as --limit
// takes it; false if the server has none.
func (f Family) Limit(n int64) (text string, ok bool) {
	if n < 1 {
		return "", false
	}
	spec := limit.Spec{Algorithm: f.Server.algorithms[0], Count: n, Period: f.Per, Options: f.Server.options}
	switch {
	case f.Server == &nginx: // it admits one beside its burst
		spec = policy.NginxLimit(f.Count, f.Per, n-1)
	case f.Kind == Token:
		spec.Count, spec.Options = f.Count, fmt.Sprintf("burst=%d", n)
	}
	text = spec.String()
	_, err := f.Server.spec(text)
	return text, err == nil
}

// Bucket is the continuous bucket that the limit of n requests at once is; false if it is none, or fills in steps.
func (f Family) Bucket(n int64) (bucket limit.Shape, ok bool) {
	text, ok := f.Limit(n)
	if !ok || f.Kind != Token {
		return bucket, false
	}
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		return bucket, false
	}
	d, ok := policies[0].Parts[0].Limiter.(limit.Describer)
	if !ok {
		return bucket, false
	}
	bucket = d.Shape()
	return bucket, bucket.Kin && bucket.Step == 0
}

// String says what the limits have in common, as the server does: 10/1s of a bucket, 10r/s of nginx, 1m of a window.
func (f Family) String() string {
	if f.Kind != Token {
		return limit.FormatPeriod(f.Per)
	}
	return strings.TrimPrefix(limit.Spec{Algorithm: f.Server.Name, Count: f.Count, Period: f.Per}.String(), f.Server.Name+":")
}

// commonRates are rates of buckets that servers with any period are tried at.
var commonRates = slices.Concat(perPeriod(limit.Second, 100, 50, 20, 10, 5, 3, 2, 1),
	perPeriod(limit.Minute, 30, 20, 10, 6, 5, 3, 2, 1), perPeriod(limit.Hour, 30, 12, 6))

// perPeriod makes rates of counts per period.
func perPeriod(per limit.Time, counts ...int64) []rate {
	return mapped.Of(counts, func(count int64) rate { return rate{count, per} })
}

// periods makes rates of windows.
func periods(lengths ...limit.Time) []rate {
	return mapped.Of(lengths, func(length limit.Time) rate { return rate{0, length} })
}
