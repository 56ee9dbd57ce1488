package format

import (
	"strconv"
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
		if got := Brief(d); got != want {
			t.Errorf("%d us is %s, want %s", d, got, want)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for d, want := range map[limit.Time]limit.Time{
		9999: 9999, 10_001: 10_010, 19_501_000: 19_510_000, 62_500_000: 62_500_000, limit.Hour: limit.Hour, limit.Hour + 1: limit.Hour + limit.Minute, limit.Day + 1: limit.Day + limit.Hour, 1: 1,
	} {
		if got := RoundUp(d); got != want {
			t.Errorf("%d us rounded up is %d, want %d", d, got, want)
		}
	}
}

func TestAmounts(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 5000: "5,000", 350.0 / 3: "116.67", 62.5: "62.5", 1.0 / 60: "0.0167", 0.5: "0.5", 1234567.891: "1,234,567.89",
		0.0000123456: "0.0000123", 0.9999: "1", 1e15: "1,000,000,000,000,000", 1e300: strconv.FormatFloat(1e300, 'f', 0, 64),
	} {
		if got := Amount(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	for d, want := range map[limit.Time]string{
		1: "1 us", 999: "999 us", 1500: "1.5 ms", 333_333: "333.3 ms", limit.Second: "1 s", 1_200_000: "1.2 s", 59_999_999: "60 s",
		limit.Minute: "1 min", 5 * limit.Minute: "5 min", 250 * limit.Second: "4 min 10 s", limit.Hour: "1 h", 24 * limit.Hour: "24 h",
		72 * limit.Minute: "1 h 12 min", 6 * limit.Day: "6 d", 400 * limit.Day: "400 d", 30*limit.Hour + limit.Minute: "1 d 6 h",
	} {
		if got := Brief(d); got != want {
			t.Errorf("%d us are written %s, want %s", d, got, want)
		}
	}
	if got := LengthOf(1e30); got != "104,166,666 d 16 h" {
		t.Errorf("forever is written %s", got)
	}
}
