package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"shadow/replay"
	"shadow/report/client"
)

// A Client is what a limit does to one client: its account, with the figures of shadow explain, and
// each of its requests.
type Client struct {
	Account  json.RawMessage `json:"account"`
	Requests []Dot           `json:"requests"`
	Left     int             `json:"left_out"` // requests behind these
}

// A Dot is a request.
type Dot struct {
	At      int64  `json:"at"` // microseconds since 1970, UTC
	Refused bool   `json:"refused"`
	Status  uint16 `json:"status"`
	Action  string `json:"action"`
}

const (
	mostDots = 20_000
	moments  = 201 // at which the level of a bucket is told
)

// client replays a limit, and collects what became of one client.
func (s *Session) client(ctx context.Context, q *Request) (json.RawMessage, error) {
	t := s.tables()
	if q.Client < 0 || int(q.Client) >= t.Clients.Len() {
		return nil, fmt.Errorf("there is no client %d", q.Client)
	}
	log := replay.NewClientLog(t, replay.ClientName{Name: t.Clients.Name(q.Client)}, 1)
	result, err := s.judge(ctx, q, replay.Options{Observer: log})
	if err != nil {
		return nil, err
	}
	policies, err := s.policy(q)
	if err != nil {
		return nil, err
	}
	account := client.New(result, client.Source{
		ClientLog: log, Policies: policies, Lateness: s.suggest.Read.Lateness, Moments: moments,
	}, s.suggest.ReportOptions())
	var text bytes.Buffer
	if err := account.Write(&text, "json", false); err != nil {
		return nil, err
	}
	c := Client{Account: text.Bytes(), Requests: []Dot{}, Left: max(0, log.Batch.Len()-mostDots)}
	for row := range min(log.Batch.Len(), mostDots) {
		c.Requests = append(c.Requests, Dot{
			At: int64(log.Batch.At[row]), Refused: log.Outcomes[0].Refused[row], Status: log.Batch.Status[row],
			Action: t.ShownAction(int32(log.Batch.Action[row])),
		})
	}
	return json.Marshal(c)
}
