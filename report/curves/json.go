package curves

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"

	"shadow/report/format"
	"shadow/request"
	"shadow/sweep"
)

// The curves as JSON, a line for each point, since there may be hundreds of thousands: they are written as they are
// made.

func (s *Report) json(w *bufio.Writer) error {
	head, err := format.JSON(s)
	if err != nil {
		return err
	}
	head = bytes.TrimSuffix(head, []byte("\n}\n"))
	w.Write(head) //nolint:errcheck // Flush tells
	fmt.Fprint(w, ",\n  \"curves\": [")
	for i := range s.curves {
		fmt.Fprint(w, separator(i)+"\n    ")
		s.jsonCurve(w, i)
	}
	fmt.Fprint(w, "\n  ]\n}\n")
	return nil
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func (s *Report) jsonCurve(w *bufio.Writer, curve int) {
	c := &s.curves[curve]
	fmt.Fprintf(w, `{"limit_kind": %q, "per": %s, "rate": %s, "by": %q, "points": [`,
		c.Kind, orNull(c.PerText()), orNull(c.RateText()), s.by)
	var line []byte
	i := 0
	for points := range s.points(curve) {
		line = s.appendPoint(append(line[:0], separator(i)+"\n      "...), &points.Logged)
		if s.banded() {
			line = appendBand(append(line, `, "band": `...), &points)
		}
		w.Write(append(line, '}')) //nolint:errcheck // Flush tells
		i++
	}
	fmt.Fprint(w, "\n    ]}")
}

func orNull(text string) string {
	if text == "" {
		return "null"
	}
	return strconv.Quote(text)
}

// appendPoint appends a point as an object that is still open.
func (s *Report) appendPoint(b []byte, p *sweep.Point) []byte {
	b = append(b, `{"limit": `...)
	b = strconv.AppendInt(b, p.Limit, 10)
	b = appendFigures(append(b, ", "...), p.Counted, p.Refused.Sum(), p.Hit.Sum())
	b = append(b, `, "by_class": {`...)
	for class := range request.ClassCount {
		b = append(b, separator(int(class))...)
		b = append(append(append(b, '"'), class.String()...), `": {`...)
		b = append(appendFigures(b, p.Counted, p.Refused[class], p.Hit[class]), '}')
	}
	b = append(b, '}')
	if s.ByEvidence == nil {
		return b
	}
	refused, hit := p.People()
	b = appendFigures(append(b, `, "by_evidence": {"people": {`...), p.Counted, refused, hit)
	b = appendFigures(append(b, `},"disguised": {`...), p.Counted, p.Hidden.Requests, p.Hidden.Clients)
	return append(b, "}}"...)
}

// appendFigures appends what is refused, null if that is not known, and who is hit.
func appendFigures(b []byte, counted bool, refused, hit int64) []byte {
	b = append(b, `"refused": `...)
	if counted {
		b = strconv.AppendInt(b, refused, 10)
	} else {
		b = append(b, "null"...)
	}
	return strconv.AppendInt(append(b, `, "clients_hit": `...), hit, 10)
}
