//go:build !nostore

package redis

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"shadow/internal/request"
	"shadow/limit"
)

// Eight writers ask for one key at the same moment. Who reads the count, decides, and writes it back, admits too much:
// between the reading and the writing others read the same. The script never does.

const (
	writers = 8
	tries   = 250 // of each writer
	most    = 100 // that may be admitted
)

// race has all writers try at once, and returns how many were admitted.
func race(t *testing.T, try func(writer, n int) bool) int64 {
	t.Helper()
	var admitted atomic.Int64
	var all sync.WaitGroup
	begin := make(chan struct{})
	for w := range writers {
		all.Go(func() {
			<-begin
			for n := range tries {
				if try(w, n) {
					admitted.Add(1)
				}
			}
		})
	}
	close(begin)
	all.Wait()
	return admitted.Load()
}

func TestRace(t *testing.T) {
	s := startServer(t)
	c := s.client()
	defer c.Close()
	ctx := context.Background()

	naive := race(t, func(int, int) bool {
		count, err := c.Get(ctx, "naive").Int()
		if err != nil && err != redis.Nil {
			t.Error(err)
		}
		if count >= most {
			return false
		}
		if err := c.Set(ctx, "naive", strconv.Itoa(count+1), 0).Err(); err != nil {
			t.Error(err)
		}
		return true
	})
	t.Logf("read, decide, write: %d admitted where %d may be", naive, most)
	if naive <= most {
		t.Errorf("%d writers without a script admitted %d: the race did not happen", writers, naive)
	}

	for _, text := range []string{"token:100/1h", "leaky:100/1h", "window:100/1h", "fixed:100/24h", "gcra:100/1h,burst=99"} {
		part := &limits(t, request.ByClient, text)[0].Parts[0]
		l, err := NewLimit(text, part, openEnded)
		if err != nil {
			t.Fatal(err)
		}
		var hosts [writers]*Conn
		for w := range hosts {
			hosts[w] = s.open(fmt.Sprint("host", w))
		}
		admitted := race(t, func(w, n int) bool {
			c := &Call{Limit: l, Key: "k", At: []limit.Time{1_700_000_000 * limit.Second}, Index: int64(n)}
			if err := hosts[w].Judge(ctx, []*Call{c}); err != nil {
				t.Error(err)
			}
			return len(c.Refused) == 0
		})
		t.Logf("%s: %d admitted", text, admitted)
		if admitted != most {
			t.Errorf("%s: %d writers through the script: %d admitted, want %d", text, writers, admitted, most)
		}
	}
}
