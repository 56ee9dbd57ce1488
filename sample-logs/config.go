package samplelogs

import (
	"cmp"
	"time"
)

// A Config says what log to make. The zero value of a field stands for its default.
type Config struct {
	Lines   int64     // 1,000,000
	Seed    uint64    // any; equal configurations give equal bytes
	Clients int64     // distinct clients, all of which appear if there are lines enough; 50,000
	Start   time.Time // 2026-03-02 00:00 UTC
	PerDay  int64     // lines per day of log time; 1,000,000
	Heavy   int64     // of 1,000 lines, how many scrapers and password guessers send; DefaultHeavy; negative for none
	Late    int64     // of 10,000 lines, how many are logged 1–3 s late; 50; negative for none
	Format  Format    // Combined
}

// DefaultHeavy is calibrated: token:6/30s, counted by client, refuses about 10 % of the requests.
const DefaultHeavy = 80

func (c Config) withDefaults() Config {
	c.Lines = max(0, cmp.Or(c.Lines, 1_000_000))
	c.Clients = max(2*castSize, cmp.Or(c.Clients, 50_000))
	c.PerDay = max(0, cmp.Or(c.PerDay, 1_000_000))
	c.Heavy = max(0, cmp.Or(c.Heavy, DefaultHeavy))
	c.Late = max(0, cmp.Or(c.Late, 50))
	if c.Start.IsZero() {
		c.Start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	}
	return c
}

// visitors is the number of clients that are not actors.
func (c Config) visitors() int64 { return c.Clients - castSize }

// visitInterval is the mean time between visits, in microseconds, that leaves room for the lines of the actors and
// of the clients' introductions.
func (c Config) visitInterval() int64 {
	perDay := c.PerDay - c.PerDay*c.Heavy/1000 - c.PerDay*c.visitors()/c.Lines - watcherLinesPerDay
	return linesPerVisit * dayMicros / (100 * max(perDay, 1000))
}

const dayMicros = 86_400_000_000
