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
	t := table.New(table.Number("N"), table.Words(""), table.Number("refused"), table.Number("refused %"),
		table.Number("clients hit"), table.Number("hit %"))
	if browsers > 0 {
		t.Head(table.Numbers("browsers hit", "browsers %")...)
	}
	for i := range c.Points {
		p := &c.Points[i]
		if !p.Counted {
			continue
		}
		named := ""
		if slices.Contains(of.Named, p.Limit) {
			named = "the policy"
		}
		row := []table.Cell{
			table.Count(p.Limit), table.Text(named), table.Count(p.Refused.Sum()),
			table.Share(format.PercentOf(p.Refused.Sum(), s.Requests)),
			table.Count(p.HitAny()), table.Share(format.PercentOf(p.HitAny(), of.Clients.Sum())),
		}
		if browsers > 0 {
			row = append(row, table.Count(p.HitBrowsers()), table.Share(format.PercentOf(p.HitBrowsers(), browsers)))
		}
		t.Add(row...)
	}
	return t
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
