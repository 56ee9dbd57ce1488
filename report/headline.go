package report

import (
	"fmt"
	"strings"
)

// headline says in a sentence what a policy did.
func headline(p *Policy) string {
	text := "by " + strings.ReplaceAll(p.By, ", ", " and ")
	if p.Range != nil {
		text += ", as an approximation"
	}
	refused, hit := p.counts()
	if p.Refused == 0 && p.Range == nil {
		text += fmt.Sprintf(", refuses none of %s", count(p.Requests, "request"))
	} else {
		text += fmt.Sprintf(", refuses %s of %s (%s%%) and hits %s of %s (%s%%)",
			refused, count(p.Requests, "request"), percent(p.RefusedPercent),
			hit, count(p.Clients, "client"), percent(p.ClientsHitPercent))
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf("; delays %s by %s in all, half of them by at most %s and 99%% by at most %s",
			thousands(p.Delayed), wait(p.Delay.Total), wait(p.Delay.P50), wait(p.Delay.P99))
	}
	return text
}
