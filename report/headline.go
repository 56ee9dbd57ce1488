package report

import (
	"fmt"
	"strings"

	"shadow/report/format"
)

// Headline says in a sentence what a policy did.
func Headline(p *Policy) string {
	text := "by " + strings.ReplaceAll(p.By, ", ", " and ")
	if p.Range != nil {
		text += ", as an approximation"
	}
	refused, hit := p.Counts()
	if p.Refused == 0 && p.Range == nil {
		text += fmt.Sprintf(", refuses none of %s", format.Count(p.Requests, "request"))
	} else {
		text += fmt.Sprintf(", refuses %s of %s (%s%%) and hits %s of %s (%s%%)",
			refused, format.Count(p.Requests, "request"), format.Percent(p.RefusedPercent),
			hit, format.Count(p.Clients, "client"), format.Percent(p.ClientsHitPercent))
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf("; delays %s by %s in all, half of them by at most %s and 99%% by at most %s",
			format.Thousands(p.Delayed), format.Wait(p.Delay.Total), format.Wait(p.Delay.P50), format.Wait(p.Delay.P99))
	}
	return text
}
