package window

import (
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var fail2banSuite = limittest.Suite{
	Draw: func(r *rand.Rand) limit.Spec {
		s := draw(r)
		s.Algorithm, s.Options = "fail2ban", "bantime="+limit.FormatPeriod(1+limit.Time(r.Int64N(3*int64(s.Period))))
		return s
	},
	New: NewFail2ban, Model: modelFail2ban, OwnClock: true,
}

func TestFail2ban(t *testing.T) { limittest.Run(t, fail2banSuite) }

func FuzzFail2ban(f *testing.F) { limittest.Fuzz(f, fail2banSuite) }

// modelFail2ban does what fail2ban does, with its own names. Its numbers are small enough not to overflow.
func modelFail2ban(s limit.Spec) limittest.Model {
	type ticket struct {
		firstTime, time limit.Time
		retry           int64
	}
	var failList, banList *ticket
	maxTime, banTime := s.Period, s.Args().Duration("bantime", 0)
	return func(t limit.Time, blocked bool) bool {
		if failList != nil {
			t = max(t, failList.time)
		}
		if banList != nil {
			t = max(t, banList.time)
		}
		switch {
		case banList != nil && t <= banList.time+banTime:
			return true
		case blocked:
			return false
		}
		banList = nil
		if failList != nil && failList.time <= t-maxTime {
			failList = nil // cleanup
		}
		if fData := failList; fData == nil {
			failList = &ticket{t, t, 1}
		} else {
			if t > fData.time {
				if fData.firstTime < t-maxTime {
					numerator, denominator := fData.retry*int64(maxTime), int64(t-fData.firstTime)
					rounded := (2*numerator + denominator) / (2 * denominator)
					if (2*numerator+denominator)%(2*denominator) == 0 && rounded%2 == 1 { // a half
						rounded--
					}
					fData.retry, fData.firstTime = rounded, t-maxTime
				}
				fData.time = t
			}
			fData.retry++
		}
		if failList.retry >= s.Count {
			failList, banList = nil, &ticket{time: t}
		}
		return false
	}
}
