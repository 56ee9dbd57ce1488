package calibrate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/testneeds"
)

// Whatever limit has decided, on clients that come up against it: the search finds one that decides the same.
func TestAnyLimitIsFound(t *testing.T) {
	r := testneeds.Rand(t, 18, 4)
	found, of := 0, 0
	for range 40 {
		text := drawLimit(r)
		all := busy(r)
		j, err := newJudge(text, true)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for _, line := range all.timelines(all.Keys[0], nil) {
			for i, v := range j.judge(&line) {
				if all.Verdict[line.rows[i]] = v; v == Refused {
					refused++
				}
			}
		}
		if refused < 50 {
			continue
		}
		of++
		f := all.Search(all.Keys[0], nil, Options{Delays: true, Prefer: "nginx"})
		if f.Best.Wrong == 0 || 1000*f.Best.Wrong < f.Requests {
			found++
		} else {
			t.Logf("%s (%d refused of %d): %s, %d wrong", text, refused, f.Requests, f.Best.Limit, f.Best.Wrong)
		}
	}
	t.Logf("%d of %d found", found, of)
	if of < 24 || 100*found < 95*of {
		t.Errorf("%d of %d limits are found to one request in 1,000", found, of)
	}
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
