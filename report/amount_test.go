package report

import (
	"testing"

	"shadow/limit"
)

// Minutes show the hundredths of their seconds, hours not.
func TestBriefMinutes(t *testing.T) {
	for d, want := range map[limit.Time]string{
		999:                                  "999 us",
		62500 * limit.Millisecond:            "1 min 2.5 s",
		62 * limit.Second:                    "1 min 2 s",
		2*limit.Minute - 1:                   "2 min",
		2*limit.Minute + 10_000:              "2 min 0.01 s",
		limit.Hour - 1:                       "1 h",
		limit.Hour + 62500*limit.Millisecond: "1 h 1 min",
	} {
		if got := brief(d); got != want {
			t.Errorf("%d us is %s, want %s", d, got, want)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for d, want := range map[limit.Time]limit.Time{
		9999: 9999, 10_001: 10_010, 19_501_000: 19_510_000, 62_500_000: 62_500_000, limit.Hour: limit.Hour, limit.Hour + 1: limit.Hour + limit.Minute, limit.Day + 1: limit.Day + limit.Hour, 1: 1,
	} {
		if got := roundUp(d); got != want {
			t.Errorf("%d us rounded up is %d, want %d", d, got, want)
		}
	}
}
