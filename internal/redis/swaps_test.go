//go:build !nostore

package redis

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"shadow/internal/policy"
	"shadow/limit"
)

// What docs/decisions/0020-scripts-not-swaps.md measures: instead of one script per algorithm, a host could read the
// state of a key, judge by the limiter, and write the state back if none was there in between. Run it with
//
//	go test ./redis -run '^$' -bench Swaps -benchtime 5x -timeout 30m

// swap writes a value if the one that was read still stands there, else returns what does. A value begins with a random
// revision, so neither side has to send the whole value to compare it.
var swap = redis.NewScript(`
local now = redis.call('GET', KEYS[1])
if (now or ''):sub(1, 8) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return false
end
return now or ''`)

// A swapper is a host that judges by swaps. Not safe for concurrent use.
type swapper struct {
	redis   redis.UniversalClient
	host    string
	limiter limit.Limiter
	tries   int // of writing a value for the first time
	retries int // because another host was faster
}

// A swapped is the value of a key: the limiter's State, and the number of the last request of each host.
type swapped struct {
	state limit.State
	last  map[string]number
}

func (n number) after(o number) bool {
	return n.place > o.place || n.place == o.place && n.index > o.index
}

// encode begins with a new revision.
func (v *swapped) encode() []byte {
	b := make([]byte, 8, 64+3*v.state.Ring().Len())
	_, _ = rand.Read(b) // never fails
	b = binary.AppendUvarint(b, uint64(len(v.last)))
	for host, n := range v.last {
		b = append(binary.AppendUvarint(b, uint64(len(host))), host...)
		b = binary.AppendVarint(binary.AppendVarint(b, int64(n.place)), n.index)
	}
	b, _ = v.state.AppendBinary(b)
	return b
}

// decodeSwapped reads what encode has written; nothing is a key never seen.
func decodeSwapped(text string) (v swapped, revision string, err error) {
	v.last = map[string]number{}
	if text == "" {
		return v, "", nil
	}
	r := bytes.NewReader([]byte(text[8:]))
	hosts, err := binary.ReadUvarint(r)
	for range hosts {
		length, _ := binary.ReadUvarint(r)
		name := make([]byte, min(length, 256))
		_, _ = r.Read(name)
		place, _ := binary.ReadVarint(r)
		index, _ := binary.ReadVarint(r)
		v.last[string(name)] = number{limit.Time(place), index}
	}
	if err == nil {
		v.state, _, err = limit.DecodeState([]byte(text[len(text)-r.Len():]))
	}
	return v, text[:8], err
}

// judge judges calls as Conn.Judge does: reads all values, judges, writes them all, and again for those that have
// changed meanwhile. A request that was charged before has no answer any more.
func (s *swapper) judge(ctx context.Context, calls []*Call) error {
	values := make([]string, len(calls))
	pipe := s.redis.Pipeline()
	gets := make([]*redis.StringCmd, len(calls))
	for i, c := range calls {
		gets[i] = pipe.Get(ctx, c.Limit.key(c.Key))
	}
	_, _ = pipe.Exec(ctx) // each command has its error
	for i, get := range gets {
		if err := get.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		values[i] = get.Val()
	}
	for first := true; len(calls) > 0; first = false {
		pipe := s.redis.Pipeline()
		swaps := make([]*redis.Cmd, len(calls))
		for i, c := range calls {
			revision, value, err := s.decide(c, values[i])
			if err != nil {
				return err
			}
			swaps[i] = pipe.EvalSha(ctx, swap.Hash(), []string{c.Limit.key(c.Key)}, revision, value, 3_600_000)
		}
		_, _ = pipe.Exec(ctx)
		var lost []*Call
		for i, c := range calls {
			switch now, err := swaps[i].Text(); {
			case err == nil:
				values[len(lost)] = now
				lost = append(lost, c)
			case !errors.Is(err, redis.Nil):
				return err
			}
		}
		if first {
			s.tries += len(calls)
		}
		s.retries += len(lost)
		calls = lost
	}
	return nil
}

// decide judges a call by the value that was read, and returns the one to write.
func (s *swapper) decide(c *Call, text string) (revision string, value []byte, err error) {
	v, revision, err := decodeSwapped(text)
	if err != nil {
		return "", nil, err
	}
	defer v.state.Release()
	c.Refused, c.Delayed, c.Err = c.Refused[:0], c.Delayed[:0], nil
	last, charged := v.last[s.host]
	next := number{c.At[0], c.Index}
	for i, t := range c.At {
		if i > 0 && t == next.place {
			next.index++
		} else if i > 0 {
			next = number{t, 0}
		}
		if charged && !next.after(last) {
			c.Err = errForgotten
			return revision, []byte(text), nil
		}
	}
	if d, ok := s.limiter.(limit.Delayer); ok {
		c.Refused, c.Delayed = d.RefuseAndDelay(c.Refused, c.Delayed, &v.state, c.At)
	} else {
		c.Refused = s.limiter.Refuse(c.Refused, &v.state, c.At)
	}
	v.last[s.host] = next
	return revision, v.encode(), nil
}

// Swaps keep the guarantee that scripts keep: together no more is admitted than the limit, and nothing is charged twice.
func TestSwaps(t *testing.T) {
	s := startServer(t)
	part := parseLimit(t, "token:100/1h")
	var hosts [writers]*swapper
	for w := range hosts {
		hosts[w] = newSwapper(t, s, w, part)
	}
	l, err := NewLimit("p", part, openEnded)
	if err != nil {
		t.Fatal(err)
	}
	call := func(n int) *Call {
		return &Call{Limit: l, Key: "k", At: []limit.Time{1_700_000_000 * limit.Second}, Index: int64(n)}
	}
	admitted := race(t, func(w, n int) bool {
		c := call(n)
		if err := hosts[w].judge(context.Background(), []*Call{c}); err != nil {
			t.Error(err)
		}
		return len(c.Refused) == 0
	})
	if admitted != most {
		t.Errorf("%d admitted, want %d", admitted, most)
	}
	c := call(tries - 1)
	if err := hosts[0].judge(context.Background(), []*Call{c}); err != nil || c.Err != errForgotten {
		t.Errorf("charged before: %v, %v, want %v", err, c.Err, errForgotten)
	}
}

func newSwapper(t testing.TB, s *server, host int, part *policy.Part) *swapper {
	c := s.client()
	t.Cleanup(func() { c.Close() })
	if err := swap.Load(context.Background(), c).Err(); err != nil {
		t.Fatal(err)
	}
	return &swapper{redis: c, host: fmt.Sprint("host", host), limiter: part.Limiter}
}
