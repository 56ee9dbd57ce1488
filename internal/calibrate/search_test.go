package calibrate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

// Whatever limit has decided, on clients that come up against it: the search finds one that decides the same.
func TestAnyLimitIsFound(t *testing.T) {
	r := testneeds.Rand(t, 18, 4)
	found, of := 0, 0
	var told strings.Builder
	draws := testneeds.Draws(8, 40)
	for range draws {
		text := drawLimit(r)
		all := busy(r)
		j, err := newJudge(text, true)
		if err != nil {
			t.Fatal(err)
		}
		refused := all.decide(j)
		if refused < 50 {
			continue
		}
		of++
		f := all.Search(all.Keys[0], nil, Options{Delays: true, Prefer: "nginx"})
		fmt.Fprintf(&told, "%s: %s\n", text, f.told())
		if of%8 == 0 { // one verdict in 60 is another one
			for row := range all.Verdict {
				if r.IntN(60) == 0 {
					all.Verdict[row] = Refused - all.Verdict[row]
				}
			}
			fmt.Fprintf(&told, "%s, with mistakes: %s\n", text, all.Search(all.Keys[0], nil, Options{Delays: true, Prefer: "nginx"}).told())
		}
		if f.Best.Wrong == 0 || 1000*f.Best.Wrong < f.Requests {
			found++
		} else {
			t.Logf("%s (%d refused of %d): %s, %d wrong", text, refused, f.Requests, f.Best.Limit, f.Best.Wrong)
		}
	}
	t.Logf("%d of %d found", found, of)
	const golden = "testdata/found.txt"
	switch text, err := os.ReadFile(golden); {
	case os.Getenv(testneeds.SeedVariable) != "":
	case draws == 40:
		limittest.Golden(t, golden, told.String())
	case err != nil || !strings.HasPrefix(string(text), told.String()):
		t.Errorf("%s begins otherwise (%v):\n%s", golden, err, told.String())
	}
	if 10*of < 6*draws || 100*found < 95*of {
		t.Errorf("%d of %d limits are found to one request in 1,000", found, of)
	}
}

// told formats what was found, and how sure that is.
func (f *Found) told() string {
	text := fmt.Sprintf("%d requests, %d refused, %.3f %% (%.3f to %.3f), unseen %.3f", f.Requests, f.Refused, f.Percent, f.Low, f.High, f.Unseen)
	for i, some := range [][]*Fit{{f.Best}, f.Equal, f.AsGood} {
		for _, fit := range some[:min(len(some), 8)] {
			text += fmt.Sprintf("\n\t%s %s: %d wrong, %d refused, %d stricter, %d looser", []string{"best", "equal", "as good"}[i], fit.Limit, fit.Wrong, fit.Refused, fit.Stricter, fit.Looser)
		}
	}
	for _, c := range f.Contradictions[:min(len(f.Contradictions), 3)] {
		text += fmt.Sprintf("\n\tcontradicted %+v", c)
	}
	return text + fmt.Sprintf("\n\tby %d of %d keys", f.Contradicted, f.Clients)
}

// drawLimit draws a limit of any algorithm.
func drawLimit(r *rand.Rand) string {
	n, burst := 1+r.Int64N(20), 1+r.Int64N(30)
	per := []string{"1s", "5s", "10s", "30s", "1m"}[r.IntN(5)]
	switch r.IntN(12) {
	case 0:
		return fmt.Sprintf("token:%d/%s,burst=%d", n, per, burst)
	case 1:
		return fmt.Sprintf("nginx:%dr/s,burst=%d,nodelay", 1+n/3, burst)
	case 2:
		return fmt.Sprintf("nginx:%dr/m,burst=%d,delay=%d", 10*n, burst+3, 1+burst/2)
	case 3:
		return fmt.Sprintf("window:%d/%s", n, per)
	case 4:
		return fmt.Sprintf("window:%d/%s,charge=all", n, per)
	case 5:
		return fmt.Sprintf("fixed:%d/%s", n, per)
	case 6:
		return fmt.Sprintf("counter:%d/%s", n, per)
	case 7:
		return fmt.Sprintf("haproxy:%d/%s", n, per)
	case 8:
		return fmt.Sprintf("counter:%d/%s,round=nearest", n, per)
	case 9:
		return fmt.Sprintf("symfony-sliding:%d/%s", n, per)
	case 10:
		return fmt.Sprintf("token:%d/%s,refill=interval", n, per)
	}
	return fmt.Sprintf("gcra:%d/%s,burst=%d", n, per, burst)
}

// busy are the requests of clients that come at every pace, for ten minutes.
func busy(r *rand.Rand) *Requests {
	all := &Requests{Keys: make([][]int32, 1)}
	add := func(client int32, at limit.Time) {
		all.At, all.Verdict, all.Keys[0] = append(all.At, at), append(all.Verdict, 0), append(all.Keys[0], client)
	}
	const length = 10 * limit.Minute
	for client := range int32(30) {
		pace := limit.Time(1) << (14 + r.IntN(11)) // 16 ms to 17 s
		for at := limit.Time(r.Int64N(int64(limit.Minute))); at < length; at += 1 + limit.Time(r.Int64N(int64(2*pace))) {
			at -= at % limit.Millisecond
			add(client, at)
			if r.IntN(40) == 0 {
				for range r.IntN(30) {
					at += limit.Time(r.IntN(20)) * limit.Millisecond
					add(client, at)
				}
				at += limit.Time(r.Int64N(int64(40 * limit.Second)))
			}
			if all.Len() > 60_000 {
				return all
			}
		}
	}
	return all
}

// decide gives requests the verdicts of a limit by their first key, and counts the refused ones.
func (r *Requests) decide(j *judge) (refused int) {
	for _, line := range r.timelines(r.Keys[0], nil) {
		for i, v := range j.judge(&line) {
			if r.Verdict[line.rows[i]] = v; v == Refused {
				refused++
			}
		}
	}
	return refused
}
