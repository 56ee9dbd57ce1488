package findings

import (
	"fmt"
	"slices"
	"time"

	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/format"
)

// clock looks at whether time stamps can be believed. Lines of a log come nearly in order: a server writes a line when a
// request ends, so some lie a little before the line above. Where a quarter of the lines step back, the stamps are not
// those of the server; where one steps back by an hour or more, files were joined in another order, or the clock was
// set.
type clock struct {
	silent
	*seen
}

const (
	ahead     = limit.Day // further in the future than any zone explains
	mostBacks = 0.25      // of the lines of an input
	fewLines  = 100       // of which a share says nothing
	shareLate = 0.01      // of the requests: more is a warning
	mostOrder = 0.01      // of the lines out of order: less is nothing to speak of

	longest = 366 * limit.Day // that files lie apart which were joined in another order: stamps of longer ago are wrong
)

func (l *clock) find(s *ingest.Stats) (all []Finding) {
	if l.total == 0 {
		return nil
	}
	var rewritten, seams ingest.Steps // of inputs that are rewritten, and of the others
	var lines, inputs int64
	for i := range s.Inputs {
		in := &s.Inputs[i]
		if in.Parsed >= fewLines && float64(in.Steps.Back) > mostBacks*float64(in.Parsed) {
			rewritten.Add(in.Steps)
			lines += in.Parsed
			inputs++
		} else {
			seams.Add(in.Steps)
		}
	}
	if rewritten.Back > 0 {
		all = append(all, Finding{
			Code: "clock", Severity: Stop, Share: min(1, ShareOf(lines, s.Parsed)), Evidence: fmt.Sprintf(
				"%s of %s lie more than a second before the line above, by up to %s: times and order contradict each other",
				format.Thousands(rewritten.Back), format.Count(lines, "line"), format.Span(rewritten.Furthest)),
		})
	}
	if share := ShareOf(seams.Back, s.Parsed); share > mostOrder && s.Late == 0 {
		all = append(all, Finding{
			Code: "clock", Severity: Info, Share: share, Evidence: fmt.Sprintf(
				"%s lie more than a second before the line above, by up to %s, and are put in order",
				format.Count(seams.Back, "line"), format.Span(seams.Furthest)),
		})
	}
	if f, found := zones(s.Inputs); found {
		all = append(all, f)
	}
	if f, found := l.late(s, &seams); found {
		all = append(all, f)
	}
	if s.LastAt > l.Now+ahead && l.Now > 0 {
		all = append(all, Finding{
			Code: "clock", Severity: Warn, Share: NoShare,
			Evidence: fmt.Sprintf("the latest request is of %s UTC, in the future: --until leaves such out",
				format.Moment(s.LastAt).Format(time.DateTime)),
		})
	}
	return all
}

// late is about requests that come later than --lateness allows, which most often is a seam.
func (l *clock) late(s *ingest.Stats, seams *ingest.Steps) (f Finding, found bool) {
	f = Finding{Code: "clock", Severity: Info, Share: ShareOf(s.Late, l.total)}
	if f.Share > shareLate {
		f.Severity = Warn
	}
	if s.Late > 0 {
		f.Evidence = format.Count(s.Late, "request") + " later than --lateness allows, judged as they come"
		if step := max(seams.Furthest, s.LateBy); step > l.Read.Lateness && step <= longest && !l.twice {
			f.Remedy = "--lateness " + lateness(step)
		}
	}
	if repeatsHour(s, seams) {
		f.Evidence = fmt.Sprintf("the hour from %s UTC on is there twice, as when summer time ends: timestamps without a zone do not "+
			"tell one from the other, and a greater --lateness would lay both over each other; %s came late, judged as they come",
			format.Moment(seams.At).Format(time.DateTime), format.Count(s.Late, "request"))
		f.Remedy = "--until " + format.Moment(seams.At).Format(time.RFC3339)
		if after := seams.At + limit.Hour; s.LastAt-after > seams.At-s.FirstAt {
			f.Remedy = "--since " + format.Moment(after).Format(time.RFC3339)
		}
		return f, true
	}
	if seams.Far > 0 {
		times := format.Count(seams.Far, "time")
		text := fmt.Sprintf("%s the clock steps back by about an hour or more, by up to %s (to %s UTC): files joined in "+
			"another order, or a clock that was set", times, format.Span(seams.Furthest),
			format.Moment(seams.At).Format(time.DateTime))
		if f.Evidence != "" {
			text += "; " + f.Evidence
		}
		f.Evidence = text
	}
	return f, f.Evidence != ""
}

// repeatsHour reports whether an hour in the middle of a log is there twice, and its stamps name no zone that could tell
// one from the other. Files of an hour each that are joined begin or end with theirs.
func repeatsHour(s *ingest.Stats, seams *ingest.Steps) bool {
	zoned := slices.ContainsFunc(s.Inputs, func(in ingest.InputStats) bool { return in.Zones.Named() || in.Format == "w3c" })
	return seams.Far == 1 && seams.Furthest <= limit.Hour && s.Late > 0 && !zoned &&
		seams.At-s.FirstAt >= limit.Hour && s.LastAt-seams.At >= 2*limit.Hour
}

// zones tells of stamps whose zone changes, as in spring and autumn. All times are compared in UTC, so nothing moves.
func zones(inputs []ingest.InputStats) (f Finding, found bool) {
	var first *ingest.Zones
	changes := int64(0)
	for i := range inputs {
		if z := &inputs[i].Zones; z.Changes > 0 {
			if changes += z.Changes; first == nil || z.At < first.At {
				first = z
			}
		}
	}
	if first == nil {
		return f, false
	}
	more := ""
	if changes > 1 {
		more = fmt.Sprintf(", and %s more", format.Count(changes-1, "time"))
	}
	step := limit.Time(max(first.To.East-first.From.East, first.From.East-first.To.East)) * limit.Second
	return Finding{
		Code: "clock", Severity: Info, Share: NoShare, Evidence: fmt.Sprintf(
			"the zone of the timestamps changes by %s at %s UTC, from %s to %s%s: they are compared in UTC, so no request moves",
			format.Span(step), format.Moment(first.At).Format(time.DateTime), first.From, first.To, more),
	}, true
}

// lateness returns the --lateness for a step back, in days, hours or minutes.
func lateness(step limit.Time) string {
	switch {
	case step >= 2*limit.Day:
		return fmt.Sprintf("%dd", step/limit.Day+1)
	case step >= 2*limit.Hour:
		return fmt.Sprintf("%dh", step/limit.Hour+1)
	}
	return fmt.Sprintf("%dm", step/limit.Minute+1)
}
