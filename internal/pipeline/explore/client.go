package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/traffic"
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
	if q.Version != s.version {
		return nil, errors.New("more requests have come: press the client again")
	}
	if q.Client < 0 || int(q.Client) >= t.Clients.Len() {
		return nil, fmt.Errorf("there is no client %d", q.Client)
	}
	policies, err := s.policy(q)
	if err != nil {
		return nil, err
	}
	log := replay.NewClientLog(t, replay.ClientName{Name: t.Clients.Name(q.Client)}, 1)
	each := s.each
	if !slices.ContainsFunc(policies[0].Parts, func(p policy.Part) bool { return p.By.Shared() }) {
		each = s.eachOf(q.Client)
	}
	result, err := s.judge(ctx, q, replay.Options{Observer: log}, each)
	if err != nil {
		return nil, err
	}
	account := client.New(result, client.Source{
		ClientLog: log, Policies: policies, Lateness: s.suggest.Read.StepBack(), Moments: moments,
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

// eachOf returns an each that hands over the requests of one client only: nothing else is in the buckets of a key that
// has the client in it.
func (s *Session) eachOf(client int32) each {
	return func(ctx context.Context, do func(int, *traffic.Batch) error) error {
		return s.each(ctx, func(i int, b *traffic.Batch) error {
			rows := mapped.Rows(b.Client, func(is int32) bool { return is == client })
			if len(rows) == 0 {
				return nil
			}
			own := &traffic.Batch{Stamps: b.Stamps, Warm: b.Warm}
			own.Append(b, rows)
			own.DropSeq()
			return do(-1, own)
		})
	}
}
