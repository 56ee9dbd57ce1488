package pipeline

import (
	"bytes"
	"testing"
	"time"

	"shadow/testneeds"
)

// A settled answer is what suggest says of a planted log.
type settled struct {
	Verdict, Reason string
	Limit, Broke    *string
	Protects        struct {
		Hit int64 `json:"clients_hit"`
	}
	Targets struct {
		Requests, Refused int64
		RefusedPercent    float64 `json:"refused_percent"`
	}
	MostHit *float64 `json:"most_hit_percent"`
}

func answerOf(t *testing.T, plant func(p *planter)) (a settled, requests int64) {
	t.Helper()
	p := &planter{Rand: testneeds.Rand(t, 16, 3), people: map[string]bool{}}
	plant(p)
	log := p.write(t, "access.log")
	var out, errs bytes.Buffer
	var all struct {
		Answer settled
		Input  struct{ Requests int64 }
	}
	askJSON(t, func(l Logs) error {
		s := Suggest{Logs: l, Holdout: DefaultHoldout, Band: true, Output: "json"}
		return s.Run(t.Context(), []string{log})
	}, Logs{Caller: called(&out, &errs)}, &out, &all)
	return all.Answer, all.Input.Requests
}

// hurry has a person look at far more pages than others do, late in the day.
func hurry(p *planter) {
	for range 30 {
		p.visit(address(81, 1<<12), webAgents[0], plantedDay-time.Hour+time.Duration(p.IntN(600))*time.Second)
	}
}

// A limit that broke its promise gives way to one that hits nobody. That one is worth deploying if it still refuses a share
// that matters, and not if everybody to protect may send as much as it admits.
func TestInPlaceOfALimitThatBroke(t *testing.T) {
	for name, c := range map[string]struct {
		verdict string
		scrape  func(p *planter)
	}{
		"a scraper all day long": {"deploy", func(p *planter) {
			p.machine(address(45, 1), scraper, "/page/%d", 200, 0, plantedDay, 0.1)
		}},
		"scrapers that hurry no more than that": {"no_limit_can", func(p *planter) {
			for i := range 10 {
				p.machine(address(45, i), scraper, "/page/%d", 200, time.Duration(i)*48*time.Minute, 13*time.Minute, 0.5)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := answerOf(t, func(p *planter) {
				p.visitors(400, plantedDay)
				c.scrape(p)
				hurry(p)
			})
			if a.Verdict != c.verdict || a.Broke == nil || a.Limit == nil || *a.Broke == *a.Limit || a.Protects.Hit > 0 || a.MostHit == nil {
				t.Errorf("%+v, want %s", a, c.verdict)
			}
			if matters := a.Targets.RefusedPercent >= 5; matters != (c.verdict == "deploy") {
				t.Errorf("%s refuses %.1f %% of the target", a.Verdict, a.Targets.RefusedPercent)
			}
		})
	}
}

// No answer refuses more than half of the log. In the place of one that would, the smallest is taken that does not.
func TestNoMoreThanHalf(t *testing.T) {
	a, requests := answerOf(t, func(p *planter) {
		p.visitors(300, plantedDay)
		for i := range 3 {
			p.machine(address(45, i), scraper, "/page/%d", 200, 0, plantedDay, 1)
		}
	})
	if a.Verdict != "deploy" || 2*a.Targets.Refused > requests || 5*a.Targets.Refused < 2*requests || a.Protects.Hit > 0 {
		t.Errorf("%+v of %d requests, want a limit that refuses nearly half of them", a, requests)
	}
}

// The site's own work is no target, so no limit is found that stops it.
func TestOwnWorkIsNoTarget(t *testing.T) {
	a, _ := answerOf(t, func(p *planter) {
		p.visitors(300, plantedDay)
		p.machine(address(48, 1), "WordPress/6.4; https://shop.example", "/wp-cron.php", 200, 0, plantedDay, 1)
	})
	if a.Verdict == "deploy" || a.Targets.Requests > 1000 {
		t.Errorf("%+v, want nothing to stop", a)
	}
}

// A limit that hits none of a few visitors is a safety net, however much it stops.
func TestFewToProtect(t *testing.T) {
	a, _ := answerOf(t, func(p *planter) {
		p.visitors(8, plantedDay)
		for i := range 40 {
			p.machine(address(45, i), scraper, "/backup/%d", 404, time.Duration(i)*10*time.Minute, 10*time.Minute, 0.5)
		}
	})
	if a.Verdict != "ceiling" || a.Protects.Hit > 0 || a.Targets.RefusedPercent < 5 {
		t.Errorf("%+v, want a safety net", a)
	}
}
