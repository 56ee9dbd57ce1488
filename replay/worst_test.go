package replay_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"shadow/limit"
	"shadow/policy"
	"shadow/replay"
	"shadow/request"
	"shadow/testneeds"
	"shadow/traffic"
)

// Of the clients that are refused most, the levels are those that a client's own account tells, and all its refusals are in them.
func TestWorstAgainstAccounts(t *testing.T) {
	policies, err := policy.ParseLimits([]string{"token:6/30s", "window:20/10m", "leaky:3/10s"}, request.ByClient)
	check(t, err)
	rng := testneeds.Rand(t, 4, 4)
	tables := traffic.NewTables()
	var b traffic.Batch
	for i := range 6000 {
		client := rng.IntN(1 + rng.IntN(30)) // the lower the busier
		b.At = append(b.At, limit.Time(i)*limit.Second/4)
		b.Client = append(b.Client, tables.Clients.ID(fmt.Appendf(nil, "192.0.2.%d", client)))
		b.Agent, b.Action = append(b.Agent, uint16(tables.Agents.ID([]byte("x")))), append(b.Action, uint16(tables.Actions.ID([]byte("/"))))
		b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, 1)
	}
	worst := replay.NewWorst(tables, policies, limit.Minute)
	account := replay.NewGathering(tables, replay.ClientName{Name: "192.0.2.0"}, len(policies))
	engine := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: limit.Minute, Observer: both{worst, account}})
	check(t, engine.Judge(&b))

	samples := worst.Samples(2, 50)
	if len(samples) != 2*len(policies) {
		t.Fatalf("%d samples", len(samples))
	}
	for i := range policies {
		s := samples[2*i]
		if name := tables.Clients.Name(s.Client); name != "192.0.2.0" || s.Policy != i || s.Full != []int64{6, 20, 3}[i] {
			t.Errorf("policy %d: of %s, full with %d", s.Policy, name, s.Full)
		}
		if want := account.Follow(policies, i, limit.Minute, 50).Limits[0].Levels; !reflect.DeepEqual(s.Levels, want) {
			t.Errorf("policy %d: levels %v, want %v", i, s.Levels, want)
		}
		want := make([]int64, 50)
		for row, is := range account.Fates[i].Refused {
			if is {
				next := 0
				for s.Moment(next) < account.Batch.At[row] {
					next++
				}
				want[next]++
			}
		}
		if !slices.Equal(s.Refused, want) || slices.Max(want[40:]) == 0 {
			t.Errorf("policy %d: %d refused up to each moment, want %d", i, s.Refused, want)
		}
		if s.Moment(0) != s.First || s.Moment(49) != s.Last {
			t.Errorf("from %d to %d, want %d to %d", s.Moment(0), s.Moment(49), s.First, s.Last)
		}
	}
}

// both are two observers.
type both [2]replay.Observer

func (o both) Observe(b *traffic.Batch, v []replay.Verdicts) error {
	for _, one := range o {
		if err := one.Observe(b, v); err != nil {
			return err
		}
	}
	return nil
}
