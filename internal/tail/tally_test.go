//go:build !nostore

package tail

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
)

// A tallied counts refusals of some actions.
type tallied struct {
	*PolicyTally
	tables *traffic.Tables
}

func newTallied(t testing.TB, earlier *Tally) *tallied {
	t.Helper()
	policies, err := policy.ParseLimits([]string{"token:1/s"}, request.ByClient)
	check(t, err)
	return &tallied{&newTally(policies, earlier).Policies[0], traffic.NewTables()}
}

func (p *tallied) refuse(action string, class request.Class) {
	p.count(uint16(p.tables.Actions.ID([]byte(action))), class, p.tables)
}

// A tally that is saved, restored and goes on has each pair of action and class once, whatever its name is made of.
func TestTallyGoesOn(t *testing.T) {
	actions := []string{"/a", "/b", "/\xff\xfe", "/\xff", "/é", "(other)", ""}
	var saved Tally
	for round := range 3 {
		p := newTallied(t, &saved)
		for i := range actions { // their ids differ from round to round
			for class := range request.Class(3) {
				p.refuse(actions[(i+round)%len(actions)], class)
			}
		}
		text, err := json.Marshal(Tally{Policies: []PolicyTally{*p.PolicyTally}})
		check(t, err)
		saved = Tally{}
		check(t, json.Unmarshal(text, &saved))
	}
	p := saved.Policies[0]
	seen := map[pair]bool{}
	var sum int64
	for _, r := range p.By {
		if seen[pair{r.Action, r.Class}] {
			t.Errorf("%+v is there twice", r)
		}
		seen[pair{r.Action, r.Class}] = true
		sum += r.Refused
	}
	if len(p.By) != 21 || sum != 63 || p.Refused != 63 { // seven names in three classes
		t.Errorf("%d pairs with %d refusals, %d in all; want 21, 63, 63", len(p.By), sum, p.Refused)
	}
}

// Many actions in one tally take no longer than as many in ten: to be seen first, to be found again, to be copied, to be shown.
// Ten times as long where each is compared with all.
func TestTallyOfManyActions(t *testing.T) {
	const many, pieces = 50_000, 10
	took := func(n int) time.Duration {
		begin := time.Now()
		p := newTallied(t, new(Tally))
		for range 2 {
			for i := range n {
				p.refuse(fmt.Sprint("/page/of/a/scanner/", i), 0)
			}
			c := Tally{Policies: []PolicyTally{*p.PolicyTally}}
			again := c.copy()
			if labels := len(again.Policies[0].labelled()); labels != maxActions+1 {
				t.Fatalf("%d labels", labels)
			}
			p = newTallied(t, &again)
		}
		if len(p.By) != n {
			t.Fatalf("%d actions, want %d", len(p.By), n)
		}
		return time.Since(begin)
	}
	one, ten := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 3 { // the least of each: something else may run
		one = min(one, took(many))
		sum := time.Duration(0)
		for range pieces {
			sum += took(many / pieces)
		}
		ten = min(ten, sum)
	}
	if one > 5*ten {
		t.Errorf("%d actions took %v in one tally, and %v in %d", many, one, ten, pieces)
	}
}

func BenchmarkTally(b *testing.B) {
	p := newTallied(b, new(Tally))
	for i := range 1000 {
		p.refuse(fmt.Sprint("/page/of/a/scanner/", i), 0)
	}
	b.Run("count", func(b *testing.B) {
		for i := range b.N {
			p.count(uint16(i%1000), 0, p.tables)
		}
	})
	for i := range 50_000 {
		p.refuse(fmt.Sprint("/page/of/a/scanner/", i), 0)
	}
	t := Tally{Policies: []PolicyTally{*p.PolicyTally}}
	b.Run("copy", func(b *testing.B) {
		for range b.N {
			t.copy()
		}
	})
	b.Run("labelled", func(b *testing.B) {
		for range b.N {
			p.labelled()
		}
	})
}
