package report

import (
	"fmt"

	"shadow/escape"
	"shadow/replay"
	"shadow/report/format"
	"shadow/traffic/intern"
)

// Taken is what a policy leaves of the requests of one action: guesses at a login, say.
type Taken struct {
	Action   string   `json:"action"`
	Requests int64    `json:"requests"`
	Admitted int64    `json:"admitted"`
	Hour     *Stretch `json:"most_admitted_in_an_hour"` // to one client; nil when nothing was admitted
	Day      *Stretch `json:"most_admitted_in_a_day"`
}

// takenOf is what policy i leaves, nil if nobody asked.
func takenOf(all *replay.Taken, i int, clients *intern.Dict) *Taken {
	if all == nil {
		return nil
	}
	p := &all.Policies[i]
	return &Taken{
		Action: all.Name(), Requests: p.Requests, Admitted: p.Admitted,
		Hour: stretchOf(p.Hour, clients), Day: stretchOf(p.Day, clients),
	}
}

func (t *Taken) text(at Layouts) string {
	text := fmt.Sprintf("%s of %s of %s admitted", format.Thousands(t.Admitted), format.Count(t.Requests, "request"), escape.Visible(t.Action))
	if t.Hour == nil {
		return text
	}
	text += fmt.Sprintf("; the most to one client in an hour: %s to %s, from %s", format.Thousands(t.Hour.Requests), t.Hour.Client, t.Hour.First.Format(at.Second))
	if t.Day.Requests == t.Hour.Requests {
		return text + ", and no more in a day"
	}
	return text + fmt.Sprintf("; in a day: %s to %s", format.Thousands(t.Day.Requests), t.Day.Client)
}
