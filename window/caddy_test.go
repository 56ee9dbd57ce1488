package window

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/limit"
	"shadow/limit/limittest"
)

var caddySuite = limittest.Suite{Draw: drawCaddy, New: NewCaddy, Model: modelCaddy}

func TestCaddy(t *testing.T) { limittest.Run(t, caddySuite) }

func FuzzCaddy(f *testing.F) { limittest.Fuzz(f, caddySuite) }

func drawCaddy(r *rand.Rand) limit.Spec {
	s := draw(r)
	s.Algorithm = "caddy"
	return s
}

// modelCaddy models the ring: N times, at first so old that no request waits for them; the cursor is at the oldest. The
// handler refuses "if dur := limiter.When(); dur > 0", and When is "r.ring[r.cursor].Add(r.window).Sub(now())" unless
// "allowed".
func modelCaddy(s limit.Spec) limittest.Model {
	ring, cursor := make([]*time.Time, s.Count), 0
	window := time.Duration(s.Period) * time.Microsecond
	var last *time.Time
	return func(t limit.Time, blocked bool) bool {
		now := time.UnixMicro(int64(t))
		if last == nil || now.After(*last) {
			last = &now
		}
		now = *last
		if oldest := ring[cursor]; oldest != nil && !(now.Sub(*oldest) > window) {
			return oldest.Add(window).Sub(now) > 0
		}
		if !blocked {
			ring[cursor] = &now
			cursor = (cursor + 1) % len(ring)
		}
		return false
	}
}

func TestNewCaddyErrors(t *testing.T) {
	for text, want := range map[string]string{
		"caddy:6/30s,burst=3": "caddy takes no options",
		"caddy:268435457/24h": "too large",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewCaddy(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
	for _, spec := range []limit.Spec{{}, {Algorithm: "caddy", Count: 1, Period: limit.Never}} {
		if _, err := NewCaddy(spec); err == nil {
			t.Errorf("%+v is taken", spec)
		}
	}
}

// The largest differences of time do not overflow.
func TestCaddyExtremes(t *testing.T) {
	const first, last = -1 << 63, 1<<63 - 1
	l, err := NewCaddy(limit.Spec{Algorithm: "caddy", Count: 1, Period: limit.Never - 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Refuse(nil, new(limit.State), []limit.Time{first, -2, -1, last, last}); !slices.Equal(got, []int32{4}) {
		t.Errorf("refused %v, want [4]", got)
	}
}

// The texts name the period that was asked for.
func TestCaddyDescribe(t *testing.T) {
	for _, text := range []string{"caddy:10/1m", "caddy:1/1m"} {
		d := must(t, text).(limit.Describer)
		shape := d.Shape()
		if got := d.Semantics(); !strings.Contains(got, "any span of 1m, ") || shape.Period != limit.Minute || shape.Unlike == "" && shape.Span != limit.Minute {
			t.Errorf("%s: %q, %+v", text, got, shape)
		}
	}
}

func BenchmarkCaddy(b *testing.B) {
	limittest.Bench(b, NewCaddy, "caddy:6/30s", "caddy:100/1m")
}
