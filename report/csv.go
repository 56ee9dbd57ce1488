package report

import (
	"bytes"
	"encoding/csv"

	"shadow/report/format"
	"shadow/report/table"
	"shadow/traffic/useragent"
)

// The report as one rectangular table: a row of level "input", then for each policy a row of level "policy", its
// classes, its top clients and its top actions; with a history also its runs and the clients that moved, and at the end
// new actions. A cell that makes no sense at its level is empty.
var csvHead = []string{
	"policy", "by", "level", "name", "class", "requests", "refused", "clients", "clients_hit",
	"first_refused", "last_refused", "worst_minute", "worst_minute_refused", "bytes_saved", "upstream_seconds_saved", "agent",
	"lines", "parsed", "unreadable", "excluded", "warm", "late",
	"delayed", "delay_total_seconds", "delay_p50_seconds", "delay_p99_seconds",
	"refused_low", "refused_high", "clients_hit_low", "clients_hit_high",
	"band_refused_low", "band_refused_high", "band_clients_hit_low", "band_clients_hit_high",
	"page_views", "page_views_broken", "longest_lockout_seconds", "most_admitted_in_an_hour",
	"evidence", "shared", "human", "bot", "undecided",
	"degraded", "degraded_refused",
	"not_http", "moved",
}

func (m *Model) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range m.csvRows() {
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func (m *Model) csvRows() [][]string {
	in := &m.Input
	first := map[string]string{
		"level": "input", "requests": format.Plain(in.Requests), "clients": format.Plain(in.Clients),
		"lines": format.Plain(in.Lines), "parsed": format.Plain(in.Parsed), "unreadable": format.Plain(in.Unreadable),
		"excluded": format.Plain(in.Excluded), "warm": format.Plain(in.Warm), "late": format.Plain(in.Late),
		"not_http": format.Plain(in.NotHTTP.Lines), "moved": format.Plain(in.Moved),
	}
	in.Evidence.csv(first)
	rows := [][]string{csvHead, csvRow(first)}
	for _, cells := range m.Apart.csvCells() {
		rows = append(rows, csvRow(cells))
	}
	for i := range m.Policies {
		p := &m.Policies[i]
		for _, cells := range p.csvCells() {
			cells["policy"], cells["by"] = table.CsvText(p.Policy), p.By
			rows = append(rows, csvRow(cells))
		}
		if m.History != nil {
			for _, cells := range m.History.Policies[i].CsvCells() {
				cells["policy"], cells["by"] = table.CsvText(p.Policy), p.By
				rows = append(rows, csvRow(cells))
			}
		}
	}
	if m.History != nil {
		for _, cells := range m.History.CsvCells() {
			rows = append(rows, csvRow(cells))
		}
	}
	return rows
}

func (p *Policy) csvCells() []map[string]string {
	all := []map[string]string{p.csvTotals()}
	for class, f := range p.ByClass {
		name := useragent.Class(class).String()
		cells := f.csvCells("class", name, name)
		if p.Band != nil {
			p.Band.ByClass[class].csv(cells)
		}
		if p.Harm != nil {
			p.Harm.ByClass[class].csv(cells)
		}
		all = append(all, cells)
	}
	all = append(all, p.csvEvidence()...)
	for _, c := range p.TopClients {
		cells := map[string]string{
			"level": "client", "name": table.CsvText(c.Client), "class": c.Class, "agent": table.CsvText(c.Agent),
			"requests": format.Plain(c.Requests), "refused": format.Plain(c.Refused),
			"first_refused": c.First.String(), "last_refused": c.Last.String(),
		}
		c.Evidence.csv(cells)
		all = append(all, cells)
	}
	for _, a := range p.TopActions {
		all = append(all, map[string]string{
			"level": "action", "name": table.CsvText(a.Action), "requests": format.Plain(a.Requests), "refused": format.Plain(a.Refused),
		})
	}
	return all
}

func (p *Policy) csvTotals() map[string]string {
	cells := map[string]string{
		"level": "policy", "requests": format.Plain(p.Requests), "refused": format.Plain(p.Refused),
		"clients": format.Plain(p.Clients), "clients_hit": format.Plain(p.ClientsHit), "bytes_saved": format.Plain(p.BytesSaved),
		"degraded": format.Plain(p.Degraded), "degraded_refused": format.Plain(p.DegradedRefused),
	}
	if p.WorstMinute != nil {
		cells["worst_minute"] = p.WorstMinute.Start.String()
		cells["worst_minute_refused"] = format.Plain(p.WorstMinute.Refused)
	}
	if p.UpstreamSecondsSaved != nil {
		cells["upstream_seconds_saved"] = format.PlainSeconds(*p.UpstreamSecondsSaved)
	}
	if p.Delay != nil {
		cells["delayed"] = format.Plain(p.Delayed)
		cells["delay_total_seconds"] = format.PlainSeconds(p.Delay.Total)
		cells["delay_p50_seconds"], cells["delay_p99_seconds"] = format.PlainSeconds(p.Delay.P50), format.PlainSeconds(p.Delay.P99)
	}
	if r := p.Range; r != nil {
		cells["refused_low"], cells["refused_high"] = format.Plain(r.Refused[0]), format.Plain(r.Refused[1])
		cells["clients_hit_low"], cells["clients_hit_high"] = format.Plain(r.ClientsHit[0]), format.Plain(r.ClientsHit[1])
	}
	if b := p.Band; b != nil {
		(&BandFigures{b.Refused, b.ClientsHit}).csv(cells)
	}
	p.HitEvidence.csv(cells)
	if h := p.Harm; h != nil {
		h.Pages.csv(cells)
		if h.Lockout != nil {
			cells["longest_lockout_seconds"] = format.PlainSeconds(h.Lockout.Seconds)
		}
		if h.Busiest != nil {
			cells["most_admitted_in_an_hour"] = format.Plain(h.Busiest.Requests)
		}
	}
	return cells
}

func (f *BandFigures) csv(cells map[string]string) {
	cells["band_refused_low"], cells["band_refused_high"] = format.Plain(f.Refused[0]), format.Plain(f.Refused[1])
	cells["band_clients_hit_low"], cells["band_clients_hit_high"] = format.Plain(f.ClientsHit[0]), format.Plain(f.ClientsHit[1])
}

func csvRow(cells map[string]string) []string {
	row := make([]string, len(csvHead))
	for i, name := range csvHead {
		row[i] = cells[name]
	}
	return row
}
