package explore

import (
	"context"
	"io"

	"shadow/report/html"
)

// firstLimit is shown first where the answer has none.
const firstLimit = "window:60/1m"

// WritePage writes the page that asks the session.
func (s *Session) WritePage(_ context.Context, w io.Writer) error {
	p, err := s.page()
	if err != nil {
		return err
	}
	return p.Write(w)
}

func (s *Session) page() (*html.Answer, error) {
	page := s.Report.Asked()
	p := page.Asked
	p.Keys, p.Actions = s.Keys(), s.Actions()
	if id, known := s.tables().Actions.Find([]byte(p.Action)); known && p.Action != "" {
		p.Action = s.tables().ShownAction(id)
	}
	shown := p.Limit
	if shown == "" {
		p.Limit = firstLimit
	}
	policies, err := s.policy(&Request{Limit: p.Limit})
	if err != nil {
		return nil, err
	}
	if shape, size, err := shapeOf(policies[0].Parts[0]); err == nil {
		if p.N = size; shown != "" {
			p.Shape = shape.String()
		}
	}
	return page, nil
}
