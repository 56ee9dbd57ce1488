package sharded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"shadow/escape"
	"shadow/pipeline"
	"shadow/policy"
	"shadow/replay"
	"shadow/report/format"
	"shadow/request"
	"shadow/shard"
	"shadow/store"
	"shadow/sweep"
)

// A Summing adds the runs of all shards of a set to one run.
type Summing struct {
	pipeline.Caller
	Into   string // the database that takes the sum in
	Output string
}

// Summed is what came of that.
type Summed struct {
	Database string     `json:"database"`
	Run      int32      `json:"run"`
	Shards   int        `json:"shards"`
	Key      string     `json:"key"`
	From     []Summand  `json:"from"`
	Requests int64      `json:"requests"`
	Policies []Refusals `json:"policies"`
}

// A Summand is a run that was added.
type Summand struct {
	Database string `json:"database"`
	Run      int32  `json:"run"`
	Shard    string `json:"shard"`
}

// Refusals is what a policy refuses of all requests.
type Refusals struct {
	Policy  string `json:"policy"`
	Refused int64  `json:"refused"`
}

// A source is a database whose runs are added.
type source struct {
	path string
	runs []store.ShardRun
}

// Run adds the runs of shards in databases. It refuses what would not be the run of all requests.
func (s *Summing) Run(ctx context.Context, databases []string) error {
	total, sources, err := s.total(ctx, databases)
	if err == nil {
		err = total.Whole()
	}
	if err != nil {
		return err
	}
	done := &Summed{Database: s.Into, Shards: total.Shards, Key: total.By.String(), From: []Summand{}, Policies: []Refusals{}}
	for _, from := range sources {
		for _, run := range from.runs {
			done.From = append(done.From, Summand{from.path, run.Run, run.Shard})
		}
	}
	err = pipeline.InDatabase(s.Into, func(db *store.Store) (kept bool, err error) {
		done.Run, err = s.store(ctx, db, total, sources, done)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	return pipeline.Afterwards(s.Into, fmt.Sprint(done.Run), s.write(done))
}

func (s *Summing) write(done *Summed) error {
	if s.Output == "json" {
		return format.WriteJSON(s.Out, format.MergeSumSchema, done)
	}
	_, err := fmt.Fprintf(s.Out, "%s: run %d is the sum of %s (%s); what is odd about the logs tells shadow doctor, of the folder with the shards\n", escape.Visible(done.Database), done.Run,
		format.Count(int64(done.Shards), "shard"), format.Count(done.Requests, "request"))
	return err
}

// total adds what the databases have.
func (s *Summing) total(ctx context.Context, databases []string) (*shard.Total, []source, error) {
	into, errInto := os.Stat(s.Into)
	total, sources := shard.NewTotal(), []source{}
	for _, path := range databases {
		if info, err := os.Stat(path); err == nil && errInto == nil && os.SameFile(into, info) {
			return nil, nil, fmt.Errorf("database %s: is the one that the sum is to go into", path)
		}
		from := source{path: path}
		err := reading(ctx, path, func(r *store.Reader) (err error) {
			if from.runs, err = r.ShardRuns(); err != nil {
				return err
			}
			if len(from.runs) == 0 {
				return fmt.Errorf("database %s: has no run of a shard", path)
			}
			for _, run := range from.runs {
				body, err := r.ShardSum(run.Run)
				var sum shard.Sum
				if err == nil {
					err = sum.UnmarshalBinary(body)
				}
				if err == nil {
					err = total.Add(&sum, fmt.Sprintf("%s (run %d)", path, run.Run))
				}
				if err != nil {
					return fmt.Errorf("database %s: run %d: %w", path, run.Run, err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, from)
	}
	return total, sources, nil
}

// reading does something with a database that is read only.
func reading(ctx context.Context, path string, do func(*store.Reader) error) error {
	r, err := store.OpenReader(ctx, path, store.Wait{})
	if err != nil {
		return err
	}
	defer r.Close()
	return do(r)
}

// Store makes a total of all shards a run of a database, in one transaction, without events. The policies are those that judged.
func Store(ctx context.Context, c pipeline.Caller, total *shard.Total, policies []policy.Policy, into string) (run int32, err error) {
	if err := total.Whole(); err != nil {
		return 0, err
	}
	s := &Summing{Caller: c, Into: into}
	err = pipeline.InDatabase(into, func(db *store.Store) (kept bool, err error) {
		run, err = s.begin(ctx, db, total, nil, policies, "UTC", 0, new(Summed))
		return err == nil, err
	})
	return run, err
}

// store makes the sum a run.
func (s *Summing) store(ctx context.Context, db *store.Store, total *shard.Total, sources []source, done *Summed) (int32, error) {
	var policies []policy.Policy
	var timezone string
	events := int64(total.Count)
	for i, from := range sources {
		err := reading(ctx, from.path, func(r *store.Reader) error {
			for _, run := range from.runs {
				n, err := r.KeepsEvents(run.Run)
				if events = min(events, n); err != nil {
					return err
				}
			}
			if i > 0 {
				return nil
			}
			loaded, err := r.Load([]int32{from.runs[0].Run})
			if err != nil {
				return err
			}
			timezone = loaded.Timezone
			for _, p := range loaded.Result.Policies {
				policies = append(policies, p.Policy)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return s.begin(ctx, db, total, sources, policies, timezone, events, done)
}

// begin makes the run, with the events of as many policies that the sources have.
func (s *Summing) begin(
	ctx context.Context, db *store.Store, total *shard.Total, sources []source, policies []policy.Policy, timezone string, events int64, done *Summed,
) (int32, error) {
	if len(policies) != total.Count {
		return 0, errors.New("the runs have other policies than their sums")
	}
	run, err := db.Begin(ctx, store.RunInfo{
		Command: s.Command, Version: s.Version, Started: s.Started, Events: store.Events(events), Timezone: timezone,
	})
	if err != nil {
		return 0, err
	}
	err = s.finish(ctx, run, total, sources, policies, events, done)
	if err != nil {
		return 0, errors.Join(err, run.Abort())
	}
	return run.ID(), nil
}

func (s *Summing) finish(
	ctx context.Context, run *store.Run, total *shard.Total, sources []source, policies []policy.Policy, events int64, done *Summed,
) error {
	stats, err := total.Stats()
	if err != nil {
		return err
	}
	counted := total.Counted()
	for _, from := range sources {
		if events == 0 {
			break
		}
		err := reading(ctx, from.path, func(r *store.Reader) error {
			for _, one := range from.runs {
				if err := copyEvents(r, one.Run, run, counted, events); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	result := counted.Result(*stats, policies)
	done.Requests = counted.Requests()
	for _, p := range result.Policies {
		done.Policies = append(done.Policies, Refusals{p.Policy.Name, p.Refused})
	}
	defer pipeline.Storing()()
	if total.Curves == nil {
		return run.Finish(result, time.Now())
	}
	by, err := request.ParseKey(total.Curves.By)
	if err != nil {
		return err
	}
	curves := &sweep.Result{Stats: *stats, Tables: counted.Tables(), Tallies: counted.Tallies(), By: by}
	total.Curves.Put(curves)
	if total.Count == 0 {
		return run.FinishSweep(curves, time.Now())
	}
	run.Curves = curves
	return run.Finish(result, time.Now())
}

// copyEvents gives a run the events of another, of the first policies.
func copyEvents(r *store.Reader, from int32, to *store.Run, counted *replay.Sum, policies int64) error {
	tables := counted.Tables()
	var some []replay.Event
	err := r.Events(from, func(e *store.NamedEvent) error {
		if int64(e.Policy) >= policies {
			return nil
		}
		some = append(some, replay.Event{
			Policy: e.Policy, Client: tables.Clients.ID([]byte(e.Client)), Action: tables.Actions.ID([]byte(e.Action)),
			Status: uint16(e.Status), Count: uint32(e.Count), At: e.At, Degraded: e.Degraded,
		})
		if len(some) < 4096 {
			return nil
		}
		err := to.Write(some)
		some = some[:0]
		return err
	})
	if err == nil && len(some) > 0 {
		err = to.Write(some)
	}
	return err
}

// Discard is a Caller that nobody listens to, for those who call the steps from a program.
func Discard() pipeline.Caller {
	return pipeline.Caller{Out: io.Discard, Err: io.Discard, Started: time.Now()}
}
