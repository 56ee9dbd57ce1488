package drill

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/mapped"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/html"
	"shadow/report/table"
)

// Write writes the report in one of format.PageOutputs, all of it or nothing.
func (r *Report) Write(w io.Writer, output string) error {
	return html.WriteReport(w, r, &r.Head, "A limit on a server, proven by requests of the log.", output)
}

// Schema implements document.Report.
func (r *Report) Schema() format.Schema { return format.DrillSchema }

// Text writes the report for people.
func (r *Report) Text(w *document.Writer) {
	r.Begin(w, "Drill: does the server refuse what is foreseen?", r.facts()...)
	if len(r.Reasons) > 0 {
		w.Section(2, "Why answers differ")
		for _, c := range r.Reasons {
			w.Facts(document.Fact{Label: string(c.Reason), Text: fmt.Sprintf("%s of %s: %s",
				format.Count(c.Requests, "request"), format.Count(c.Clients, "client"), r.because(c))})
		}
	}
	document.Section{Title: "Answers", Table: r.answerTable()}.Write(w, 2)
	if len(r.Differs) > 0 {
		title := "Requests whose answers differ" + format.MoreThan(len(r.Differs), r.DiffersLeftOut+int64(len(r.Differs)))
		document.Section{Title: title, Table: r.differTable()}.Write(w, 2)
	}
}

// late is the delay in milliseconds from which on a report says that this machine is busy.
const late = 200

func (r *Report) facts() (f document.Facts) {
	s := &r.Stretch
	f.Add("policy", fmt.Sprintf("%s by %s", r.Policy, r.By))
	f.Add("server", fmt.Sprintf("%s, clients told by %s", r.Target, r.clientIn()))
	text := fmt.Sprintf("%s from %s UTC: %s; in the log, %s refused in the worst minute",
		format.Count(int64(s.Minutes), "minute"), s.First.Format("2006-01-02 15:04:05"),
		format.Count(s.Requests, "request"), format.Thousands(s.WorstMinuteRefused))
	f.Add("stretch", text)
	if out := s.LeftOut.String(); out != "" {
		f.Add("not sent", out)
	}
	if s.Spread {
		f.Add("times", "whole seconds: requests are sent evenly in theirs, in the order of the log")
	}
	sent := fmt.Sprintf("%s, at most %.0f ms late", format.Count(r.Sent, "request"), r.LatestMS)
	switch {
	case r.Interrupted:
		sent += fmt.Sprintf("; interrupted before the other %s", format.Thousands(r.Planned-r.Sent))
	case r.Stopped != "":
		sent += fmt.Sprintf("; given up before the other %s: %s", format.Thousands(r.Planned-r.Sent), r.Stopped)
	}
	if r.LatestMS > late {
		sent += "; this machine is busy, a calmer one sends closer to the plan"
	}
	f.Add("sent", sent)
	f.Add("refused", fmt.Sprintf("%s foreseen, %s by the server", format.Thousands(r.Foreseen),
		format.Thousands(r.Refused)))
	verdict := fmt.Sprintf("%s of %s as predicted; %s by the moments at which they were really sent (%s)",
		format.Thousands(r.AsPredicted),
		format.Thousands(r.Sent), format.Thousands(r.ByMomentsSent), format.Percentage(r.ByMomentsPercent))
	return append(f, document.Strong("verdicts", verdict))
}

func (r *Report) clientIn() string {
	if r.ClientIn == "source" {
		return "the source address"
	}
	return "the header " + r.ClientIn
}

// because says what a reason means, and what to look at.
func (r *Report) because(c ReasonCount) string {
	switch c.Reason {
	case Clock:
		return "a tie; the limit decides so at the moments at which requests were really sent, give or take some milliseconds"
	case Stricter:
		text := "refused, though the limit has room: another limit stands in front, or " +
			"the clients of an earlier drill are not forgotten"
		if c.Clients > 1 && r.ClientIn != "source" {
			text += fmt.Sprintf(", or the server takes clients for one: it must count by %s (nginx: real_ip_header and "+
				"set_real_ip_from)", r.ClientIn)
		}
		return text
	case Missing:
		return fmt.Sprintf("the server refused nothing: is the limit in its configuration, was that reloaded, and is a "+
			"refusal answered with %s?",
			strings.Join(mapped.Of(r.RefusedIs, strconv.Itoa), " or "))
	case Looser:
		return "not refused, though others were: the server has a looser limit, or " +
			"several workers or hosts that count by themselves"
	}
	i := slices.IndexFunc(r.all, func(d Difference) bool { return d.Reason == Connection })
	return r.all[i].Failure
}

func (r *Report) answerTable() *table.Table {
	t := table.New(table.Words("status"))
	t.Head(table.Numbers("requests", "foreseen passed", "foreseen refused")...)
	for _, a := range r.Answers {
		status := fmt.Sprint(a.Status)
		if a.Status == 0 {
			status = "no answer"
		}
		t.Add(table.Text(status), table.Count(a.Requests), table.Count(a.Requests-a.Foreseen), table.Count(a.Foreseen))
	}
	return t
}

func (r *Report) differTable() *table.Table {
	t := table.New(table.Number("after s"), table.Name("client"), table.Long("request"), table.Words("foreseen"),
		table.Words("answered"), table.Words("why"))
	for i := range r.Differs {
		d := &r.Differs[i]
		got := d.Got
		if d.Status > 0 {
			got += fmt.Sprintf(" (%d)", d.Status)
		}
		t.Add(table.Shown(fmt.Sprintf("%.3f", d.After), ""), table.Text(d.Client), table.Text(d.Method+" "+d.Path),
			table.Text(d.Predicted),
			table.Text(got), table.Text(string(d.Reason)))
	}
	return t
}

var csvHead = []string{"after", "client", "method", "path", "predicted", "by_moments", "got", "status", "reason"}

// CSV writes a row for each request that was sent.
func (r *Report) CSV(w io.Writer) error {
	c := table.NewCSV(w, csvHead...)
	for i := range r.all {
		d := &r.all[i]
		c.Add(table.Shown("", format.PlainSeconds(d.After)), table.Text(d.Client), table.Text(d.Method),
			table.Text(d.Path), table.Text(d.Predicted),
			table.Text(d.ByMoments), table.Text(d.Got), table.Shown("", fmt.Sprint(d.Status)), table.Text(string(d.Reason)))
	}
	return c.Flush()
}
