package suggest_test

import (
	"errors"
	"testing"

	"shadow/internal/findings"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// Once a pass over the requests has failed, or was cancelled, none is begun any more.
func TestNoPassAfterAFailure(t *testing.T) {
	errGone := errors.New("gone")
	for failing := 1; failing <= 4; failing++ {
		tables := traffic.NewTables()
		var requests []sent
		for i := range 400 {
			requests = append(requests, sent{limit.Time(i) * limit.Second, i % 20, firefox})
		}
		b := batch(tables, requests)
		passes := 0
		a := &suggest.Advisor{
			Question: suggest.Question{Goals: suggest.GoalsOf(findings.People), Target: suggest.TargetOf(findings.People)},
			Shapes:   sweep.Options{Kinds: []sweep.Kind{sweep.Window}, Periods: []limit.Time{limit.Minute}},
			Tables:   tables,
			Who: func() *who.Register {
				return &who.Register{Identities: make(who.Identities, 20)} // people
			},
			Read: func(do func(*traffic.Batch) error) (ingest.Stats, error) {
				return ingest.Stats{HasAgents: true, LastAt: 400 * limit.Second}, do(b)
			},
			Again: func(do func(*traffic.Batch) error) error {
				if passes++; passes == failing {
					return errGone
				}
				return do(b)
			},
		}
		check(t, a.Survey())
		if _, err := a.Advise(t.Context()); !errors.Is(err, errGone) || passes != failing {
			t.Errorf("pass %d fails: %v after %d passes", failing, err, passes)
		}
	}
}
