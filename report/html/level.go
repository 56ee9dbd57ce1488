package html

import (
	"fmt"
	"strings"

	"shadow/report/format"
	"shadow/report/table"
)

// How full a limit was for one client, drawn here and now, so that it shows without any script:
//
//	full ------------------- top of the limit
//	        /\  /\_
//	     __/  \/   \___      level
//	       ||    |           refused

const (
	levelWidth  = 640 // of the drawing, in units of its own
	levelHeight = 96
	levelFoot   = 10 // below, for what is refused
)

// joined is the level at half as many moments, again and again until there are few enough to be drawn.
func (l *Level) joined() *Level {
	j := *l
	for len(j.Levels) > levelWidth {
		highest := make([]float64, (len(j.Levels)+1)/2)
		for i, v := range j.Levels {
			highest[i/2] = max(highest[i/2], v)
		}
		j.Levels, j.Refused = highest, pairs(j.Refused)
	}
	return &j
}

// A levelView is the drawing and its words.
type levelView struct {
	Client, Policy, Limit string
	First, Last           string
	Line                  string // points of the curve
	Marks                 string // a path: where something was refused
	Top                   string // height of the line at which the limit is full
	Words                 string // the drawing for those who cannot see it
}

func levelViewOf(whole *Level) levelView {
	l := whole.joined()
	highest := max(l.Top, 1)
	for _, v := range l.Levels {
		highest = max(highest, v)
	}
	at := func(i int) float64 { return levelWidth * float64(i) / float64(max(len(l.Levels)-1, 1)) }
	height := func(v float64) float64 { return levelHeight * (1 - v/(highest*1.08)) }
	var line, marks strings.Builder
	for i, v := range l.Levels {
		fmt.Fprintf(&line, "%.1f,%.1f ", at(i), height(v))
	}
	for i, n := range l.Refused {
		if n > 0 && i < len(l.Levels) {
			fmt.Fprintf(&marks, "M%.1f %dv%d", at(i), levelHeight+2, levelFoot-2)
		}
	}
	return levelView{
		Client: table.Clip(l.Client, table.PageName), Policy: table.Clip(l.Policy, table.PageName), Limit: table.Clip(l.Limit, table.PageName),
		First: l.First.Format("2006-01-02 15:04:05"), Last: l.Last.Format("2006-01-02 15:04:05"),
		Line: line.String(), Marks: marks.String(), Top: fmt.Sprintf("%.1f", height(l.Top)), Words: levelWords(whole),
	}
}

func levelWords(l *Level) string {
	full := 0
	for _, v := range l.Levels {
		if v >= l.Top {
			full++
		}
	}
	text := fmt.Sprintf("The limit is full with %s; at %d of %d moments it was.", format.Amount(l.Top), full, len(l.Levels))
	if len(l.Refused) == 0 {
		return text
	}
	refused := int64(0)
	for _, n := range l.Refused {
		refused += n
	}
	return text + " " + format.Count(refused, "request") + " refused."
}
