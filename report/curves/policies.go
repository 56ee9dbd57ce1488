package curves

import (
	"encoding/json"
	"fmt"
	"slices"

	"shadow/internal/escape"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// The limits of policies, each in a table with a row for each counted N.

// policies writes the tables.
func (s *Report) policies(w *document.Writer) {
	s.Begin(w, "Every limit of a policy", document.Fact{Label: "rows", Text: fmt.Sprintf(
		"the N of the policy, and the smallest that are enough for 50, 90, 99, 99.9 and 100 %% of the clients that it "+
			"concerns, and of the browsers; every figure is that of a replay with this N; percentages are of %s, and of "+
			"these clients",
		format.Count(s.Requests, "request"),
	)})
	for i := range s.result.Curves {
		of := &s.of[i]
		w.Topic(2, escape.Visible(of.Policy), fmt.Sprintf("concerns %s; %s",
			format.Count(of.Clients.Sum(), "client"), escape.Visible(of.Text)))
		if t := s.policyTable(&s.result.Curves[i], of); len(t.Rows) > 0 {
			w.Table(t)
		}
	}
	s.model().WriteEnd(w)
}

// policyTable has a row for each N that is counted.
func (s *Report) policyTable(c *sweep.Curve, of *sweep.Subject) *table.Table {
	browsers := of.Clients[request.Browser] - of.Hidden
	t := table.Of[sweep.Point]{}
	counted := func(head, share string, figure func(*sweep.Point) int64, all int64) {
		t.Head(table.Number(head), func(p *sweep.Point) table.Cell { return table.Count(figure(p)) })
		t.Head(table.Number(share), func(p *sweep.Point) table.Cell { return table.Share(format.PercentOf(figure(p), all)) })
	}
	t.Head(table.Number("N"), func(p *sweep.Point) table.Cell { return table.Count(p.Limit) })
	t.Head(table.Words(""), func(p *sweep.Point) table.Cell {
		return table.Text(map[bool]string{true: "the policy"}[slices.Contains(of.Named, p.Limit)])
	})
	counted("refused", "refused %", func(p *sweep.Point) int64 { return p.Refused.Sum() }, s.Requests)
	counted("clients hit", "hit %", (*sweep.Point).HitAny, of.Clients.Sum())
	if browsers > 0 {
		counted("browsers hit", "browsers %", (*sweep.Point).HitBrowsers, browsers)
	}
	return t.Fill(slices.DeleteFunc(slices.Clone(c.Points), func(p sweep.Point) bool { return !p.Counted }))
}

// subjectJSON are the keys that say which policy a curve is of.
func (s *Report) subjectJSON(of *sweep.Subject) ([]byte, error) {
	text, err := json.Marshal(struct {
		Policy  string  `json:"policy"`
		Text    string  `json:"text"`
		Named   []int64 `json:"named"`
		Clients int64   `json:"clients"`
	}{of.Policy, of.Text, of.Named, of.Clients.Sum()})
	if err != nil {
		return nil, err
	}
	return append(format.EscapeJSON(text[1:len(text)-1]), ", "...), nil
}
