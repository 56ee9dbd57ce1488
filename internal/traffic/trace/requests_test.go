package trace

import (
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
)

// drawn returns a batch of random rows. The last rows come late.
func drawn(rng *rand.Rand, n int) *traffic.Batch {
	b := traffic.NewBatch(n, traffic.Columns{Clues: true})
	b.Warm, b.Stamps = rng.IntN(3) == 0, traffic.Coarseness{Slack: 999_999}
	for range n {
		b.At, b.Client = append(b.At, limit.Time(rng.Int64N(1<<40))), append(b.Client, rng.Int32N(1<<20))
		b.Agent, b.Action = append(b.Agent, uint16(rng.IntN(300))), append(b.Action, uint16(rng.IntN(9)))
		b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, rng.Int64N(1<<30))
		b.Clues = append(b.Clues, traffic.Clue{Traits: traffic.Asked, Page: uint16(rng.IntN(1 << 16))})
	}
	if rng.IntN(2) == 0 {
		b.NeedSeq()
		b.Seq[n-1] += limit.Hour
	}
	return b
}

// plain returns a batch as others see it.
func plain(b *traffic.Batch) traffic.Batch {
	return traffic.Batch{
		At: b.At, Client: b.Client, Agent: b.Agent, Action: b.Action, Status: b.Status, Bytes: b.Bytes, Clues: b.Clues,
		Seq: b.Seq, Warm: b.Warm, Stamps: b.Stamps,
	}
}

// check holds a pass against the batches that were taken in.
func check(t *testing.T, r *Requests, want []*traffic.Batch) {
	t.Helper()
	pass := r.Pass()
	for i, w := range want {
		got, err := pass.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plain(got), plain(w)) {
			t.Fatalf("batch %d of %d rows comes back as one of %d", i, w.Len(), got.Len())
		}
	}
	if _, err := pass.Next(); err != io.EOF {
		t.Errorf("behind the last batch: %v", err)
	}
}

// The only batch comes back in each pass, also from one that begins before another has ended.
func TestHeldBatch(t *testing.T) {
	b, r := drawn(testneeds.Rand(t, 3, 9), 9), new(Requests)
	if r.Held() {
		t.Error("nothing is held")
	}
	r.Hold(b)
	ahead := r.Pass().Ahead()
	if got, err := ahead.Next(); err != nil || !reflect.DeepEqual(plain(got), plain(b)) {
		t.Errorf("%+v, error %v", got, err)
	}
	check(t, r, []*traffic.Batch{b})
	ahead.Close()
	check(t, r, []*traffic.Batch{b})
	if err := r.Close(); err != nil || r.Held() {
		t.Errorf("after the end: held %t, error %v", r.Held(), err)
	}
}

func TestBatchesComeBack(t *testing.T) {
	for what, sizes := range map[string][]int{
		"none":      nil,
		"in memory": {1, 100, 3},
		"in a file": {frameRows, frameRows + 1, 5, 10 * frameRows, 2, 4 * frameRows, 1},
	} {
		t.Run(what, func(t *testing.T) {
			rng := testneeds.Rand(t, 5, 1)
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			r := new(Requests)
			var batches []*traffic.Batch
			for _, n := range sizes {
				batches = append(batches, drawn(rng, n))
				r.Add(batches[len(batches)-1])
			}
			if (r.file != nil) != (what == "in a file") {
				t.Errorf("%d bytes; in a file: %v", r.Size(), r.file != nil)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%v is left when the process is killed, error %v", left, err)
			}
			check(t, r, batches)
			check(t, r, batches)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is damaged is never taken for requests.
func TestDamage(t *testing.T) {
	rng := testneeds.Rand(t, 5, 2)
	r := new(Requests)
	for range 3 {
		r.Add(drawn(rng, 20))
	}
	whole := r.memory
	read := func(what string, at int) {
		t.Helper()
		pass := r.Pass()
		for range 4 {
			if _, err := pass.Next(); err == io.EOF {
				t.Fatalf("%s at %d: nobody notices", what, at)
			} else if err != nil {
				return
			}
		}
	}
	frame := 0 // one that ends a batch; what is cut off behind it is not missed here
	for at := range whole {
		r.memory = append([]byte{}, whole...)
		r.memory[at] ^= 1 << rng.IntN(8)
		read("a bit flipped", at)
		if r.memory = whole[:at]; at == frame {
			frame += frameHead + int(whole[at]) + int(whole[at+1])<<8
			continue
		}
		read("cut", at)
	}
}
