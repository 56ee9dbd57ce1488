package window

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var evasiveSuite = limittest.Suite{
	Draw: func(r *rand.Rand) limit.Spec {
		return limit.Spec{
			Algorithm: "mod-evasive", Count: 1 + r.Int64N(6), Period: limit.Time(1+r.IntN(60)) * limit.Second,
			Options: fmt.Sprintf("block=%ds", 1+r.IntN(60)),
		}
	},
	New: NewEvasive, Model: modelEvasive,
}

func TestEvasive(t *testing.T) { limittest.Run(t, evasiveSuite) }

func FuzzEvasive(f *testing.F) { limittest.Fuzz(f, evasiveSuite) }

// modelEvasive does what the module does, with its own names.
func modelEvasive(s limit.Spec) limittest.Model {
	type node struct{ timestamp, count int64 }
	var hit, site *node
	last, seen := int64(0), false
	period, block := int64(s.Period/limit.Second), int64(s.Args().Duration("block", 0)/limit.Second)
	return func(at limit.Time, _ bool) bool {
		t := int64(floor(at, limit.Second) / limit.Second)
		if seen {
			t = max(t, last)
		}
		last, seen = t, true
		if hit != nil && t-hit.timestamp < block {
			hit.timestamp = t
			return true
		}
		if site == nil {
			site = &node{timestamp: t}
			return false
		}
		refused := false
		if t-site.timestamp < period && site.count >= s.Count {
			refused, hit = true, &node{timestamp: t}
		} else if t-site.timestamp >= period {
			site.count = 0
		}
		site.timestamp = t
		site.count++
		return refused
	}
}

func TestEvasiveErrors(t *testing.T) {
	for _, text := range []string{"mod-evasive:6/500ms", "mod-evasive:6/1s,block=1500ms", "mod-evasive:6/1s,burst=3"} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewEvasive(spec); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
