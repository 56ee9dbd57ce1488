package findings

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/report/format"
)

// Who is no visitor, by traffic/who: the site's own work, monitors, attackers. Which of these are worth to tell, and how, is
// decided here.

// worthTelling is the percentage of all requests that some clients must send together to be reported.
const worthTelling = 1

// machines tells of them, of inner hosts, and of those of which no more is known than how much they send.
func (l *clients) machines() []Finding {
	by, inner := l.senders()
	asked := Warn
	if 100*l.sent(inner) >= innerStops*l.total {
		asked = Stop
	}
	return slices.Concat(
		l.worth("own_server", Info, by[who.Own], "the site's own work, left out of every answer"),
		l.worth("health_check", Info, by[who.Monitor], "monitors, left out of every answer"),
		l.worth("inner_hosts", asked, inner,
			"services of your own, or a proxy? A limit would refuse these first, so say what they are"),
		l.worth("heavy_client", Warn, l.unknown(inner), "look who it is (`shadow explain`)"),
		l.attack(by[who.Attacker]),
		l.adminIndexed(by[who.Search]),
	)
}

// senders returns the clients that sent something: all by identity, and those of inner addresses beside public ones, of
// which it is asked what they are.
func (l *clients) senders() (by [who.Count][]int32, inner []int32) {
	var publicClients int64
	for id := range int32(l.all.Len()) {
		n := l.all.At(id).requests()
		if n == 0 || slices.Contains(l.fronts, id) {
			continue
		}
		is := l.is(id)
		by[is] = append(by[is], id)
		if address := l.address(id); address.IsValid() {
			switch {
			case !match.IsPrivate(address):
				publicClients++
			case is != who.Own && is != who.Monitor && is != who.Proxy && is != who.Person && is != who.Office:
				inner = append(inner, id)
			}
		}
	}
	if publicClients < mustClients {
		return by, nil
	}
	services := slices.DeleteFunc(slices.Clone(inner), func(id int32) bool { c := l.all.At(id); return c.is(c.files, 10) })
	if len(inner)-len(services) >= mustClients { // so many desks are an intranet's, whose people are clients as others are
		inner = services
	}
	if 100*l.sent(inner) < innerStops*l.total { // then it is asked of heavy ones that are one program each
		heavy := l.heavy()
		inner = slices.DeleteFunc(inner, func(id int32) bool {
			return !slices.Contains(heavy, id) || bits.OnesCount64(l.all.At(id).kinds) > 1
		})
	}
	return by, inner
}

// unknown returns the heavy clients that are told neither by their identity nor as inner hosts: those that
// sent a fifth of all requests, alone or with others of one agent that nothing shows to be people either.
func (l *clients) unknown(inner []int32) (ids []int32) {
	alike := map[int32]int64{} // requests by agent
	for _, id := range l.heavy() {
		c := l.all.At(id)
		if slices.Contains(inner, id) || slices.Contains(l.fronts, id) || l.name(id) == "-" || c.crowd(crowdedFrom) {
			continue
		}
		switch l.is(id) {
		case who.Own, who.Monitor, who.Attacker, who.Proxy, who.Office:
			continue
		case who.Undecided:
			_, agent := l.census.Habits(id)
			alike[agent] += c.requests()
		default:
		}
		ids = append(ids, id)
	}
	return slices.DeleteFunc(ids, func(id int32) bool {
		_, agent := l.census.Habits(id)
		return 5*l.all.At(id).requests() <= l.total && (l.is(id) != who.Undecided || 5*alike[agent] <= l.total)
	})
}

// worth returns the finding on some clients, if they send enough to be told of.
func (l *clients) worth(code string, severity Severity, ids []int32, what string) []Finding {
	requests := l.sent(ids)
	if len(ids) == 0 || 100*requests < worthTelling*l.total {
		return nil
	}
	l.busiestFirst(ids)
	f := Finding{Code: code, Severity: severity, Share: ShareOf(requests, l.total)}
	f.Evidence = fmt.Sprintf("%s sent %s of the requests: %s, %s",
		l.named(ids), format.Share(requests, l.total), what, l.does(ids))
	f.Brief = l.brief(code, ids, format.Percentage(100*float64(f.Share)))
	if code != "heavy_client" && l.byAddress() {
		f.Remedy = l.exclude(ids)
	}
	return []Finding{f}
}

// brief returns the finding on clients that sent a share of the requests in a few words.
func (l *clients) brief(code string, ids []int32, share string) string {
	switch claims := l.census.Claims(ids[0]); code {
	case "own_server", "health_check":
		if claims {
			what := map[string]string{"own_server": "the site's own work", "health_check": "monitors"}[code]
			text := fmt.Sprintf("%s of requests (%s) only call themselves %s: left out", share, l.first(ids), what)
			if flags := l.exclude(ids); flags != "" && 2*l.sent(ids) >= l.total { // so much that the answer is another one without
				text += "; if they are yours, ask again with " + flags
			}
			return text
		}
	}
	switch code {
	case "own_server":
		return fmt.Sprintf("%s of requests (%s) are the site's own work: left out", share, l.first(ids))
	case "health_check":
		return fmt.Sprintf("%s of requests (%s) ask whether the site is up: left out", share, l.first(ids))
	case "inner_hosts":
		return fmt.Sprintf("%s of requests come from inner addresses (%s): services of yours, or a proxy?",
			share, l.named(ids))
	}
	as := ""
	if agent, one := l.agentOf(ids); one {
		as = ", as " + l.agentsOf(ids[0], useragent.Short(l.Read.Tables.Agents.Name(agent)))
	}
	return fmt.Sprintf("%s sent %s of the requests%s: who is it?", l.named(ids), share, as)
}

// innerStops is the percentage of all requests that private addresses must send, beside public ones, for no answer.
const innerStops = 25

// swarmsNamed is the most swarms that are reported.
const swarmsNamed = 2

// counted counts clients without naming any.
func (l *clients) counted(ids []int32) string {
	if l.byAddress() {
		return addresses(int64(len(ids)))
	}
	return format.Count(int64(len(ids)), "client")
}

// first names the first of some clients, and counts the others.
func (l *clients) first(ids []int32) string {
	name := l.name(ids[0])
	if more := len(ids) - 1; more > 0 {
		name += fmt.Sprintf(", %s more", format.Thousands(int64(more)))
	}
	return name
}

// sent returns how many requests some clients sent.
func (l *clients) sent(ids []int32) (requests int64) {
	for _, id := range ids {
		requests += l.all.At(id).requests()
	}
	return requests
}

// manyTries is the number of wrong passwords that are worth telling in a log of any length.
const manyTries = 100

// attack tells of attackers, and of what they got.
func (l *clients) attack(ids []int32) (found []Finding) {
	requests := l.sent(ids)
	does := l.census.Deeds(ids)
	if 100*requests >= worthTelling*l.total && len(ids) > 0 || does.Passwords >= manyTries {
		l.busiestFirst(ids)
		var parts []string
		part := func(n int64, what string) {
			if 20*n >= requests {
				parts = append(parts, fmt.Sprintf("%s %s", format.Percentage(format.PercentOf(n, requests)), what))
			}
		}
		part(does.Passwords, "try passwords")
		part(does.Probes, "are probes of scanners")
		part(does.Failures, "ask for what is not there")
		part(does.Unpaid, "are payments refused")
		part(does.Barred, "are answered with 400 or 401")
		text := fmt.Sprintf("%s sent %s of the requests", l.named(ids), format.Share(requests, l.total))
		brief := fmt.Sprintf("%s of requests, %s", format.Percentage(format.PercentOf(requests, l.total)), l.counted(ids))
		told := parts
		for _, s := range l.census.Swarms[:min(len(l.census.Swarms), 1)] {
			swarm := format.Thousands(int64(len(s.Members))) + " are one swarm"
			told = slices.Concat(parts[:min(len(parts), 1)], []string{swarm})
		}
		if len(told) > 0 {
			brief += ": " + strings.Join(told[:min(len(told), 2)], ", ")
		}
		swarms := l.census.Swarms[:min(len(l.census.Swarms), swarmsNamed)]
		parts = mapped.Add(parts, swarms, func(s who.Swarm) string { return "a swarm of " + s.Reason })
		if len(parts) > 0 {
			text += "; of these " + strings.Join(parts, ", ")
		}
		found = append(found, Finding{Code: "attacker", Severity: Info, Share: ShareOf(requests, l.total), Evidence: text, Brief: brief})
	}
	var names []string
	var given int64
	receivers := map[int32]bool{}
	for _, loot := range l.census.Loots() {
		names = append(names, targetText(l.Read.Tables.Paths.Name(loot.Target)))
		given += loot.Requests
		for _, id := range loot.Clients {
			receivers[id] = true
		}
	}
	if given > 0 {
		found = append(found, Finding{
			Code: "secrets_served", Severity: Warn, Share: ShareOf(given, l.total),
			Evidence: fmt.Sprintf("your server answered %s for %s with 200, from %s: look what it gave away",
				format.Count(given, "request"), format.List(names, namesShown), format.Count(int64(len(receivers)), "client")),
		})
	}
	if guessed := l.census.Guessed(); len(guessed) > 0 {
		l.busiestFirst(guessed)
		found = append(found, Finding{
			Code: "password_guessed", Severity: Warn, Share: NoShare,
			Evidence: fmt.Sprintf("%s got in after many wrong passwords: look at these accounts", l.named(guessed)),
		})
	}
	return found
}

// leastManaged is the least number of administration pages given to a search engine to be reported: one may be a login.
const leastManaged = 3

// adminIndexed tells of search engines that read the pages of those who run the site.
func (l *clients) adminIndexed(search []int32) []Finding {
	var ids []int32
	var pages int64
	for _, id := range search {
		if n := l.census.Managed(id); n >= leastManaged {
			ids, pages = append(ids, id), pages+n
		}
	}
	if len(ids) == 0 {
		return nil
	}
	l.busiestFirst(ids)
	return []Finding{{
		Code: "admin_indexed", Severity: Warn, Share: ShareOf(pages, l.total),
		Evidence: fmt.Sprintf("%s of search engines got %s of the site's administration: must one log in there?", l.named(ids), format.Count(pages, "page")),
	}}
}

// exclude returns the flags that leave clients out.
func (l *clients) exclude(ids []int32) string {
	const most = 4
	var names []string
	for _, a := range l.addressesOf(ids[:min(len(ids), most)]) {
		names = append(names, a.String())
	}
	if len(names) == 0 {
		return ""
	}
	return "--exclude " + strings.Join(names, " --exclude ")
}

// does says what the first of some clients does most: its action and its agent.
func (l *clients) does(ids []int32) string {
	id := ids[0]
	action, agent := l.census.Habits(id)
	what := "mostly " + l.Read.Tables.Actions.Name(action)
	if _, one := l.agentOf(ids); !one {
		what = "the busiest: " + what
	}
	if c := l.all.At(id); c.is(c.errors, 50) {
		what = fmt.Sprintf("%s of the answers are errors", format.Percentage(format.PercentOf(int64(c.errors), c.requests())))
	}
	what += ", by " + l.agentsOf(id, agentText(l.Read.Tables.Agents.Name(agent)))
	if owner := l.Known.Owners.Of(l.address(id)).String(); owner != "" {
		what += ", of " + owner
	}
	return what
}

// agentsOf returns the agent of a client, or how many kinds of browsers it says that it is.
func (l *clients) agentsOf(id int32, agent string) string {
	if c := l.all.At(id); c.several(crowdedFrom) {
		return fmt.Sprintf("%d kinds of browsers", bits.OnesCount64(c.kinds))
	}
	return agent
}

// agentOf returns the agent of the first of some clients, and whether all have it.
func (l *clients) agentOf(ids []int32) (agent int32, one bool) {
	_, agent = l.census.Habits(ids[0])
	return agent, !slices.ContainsFunc(ids, func(id int32) bool { _, other := l.census.Habits(id); return other != agent })
}

// targetText returns a path, and of a long one its end, which says what was asked for.
func targetText(path string) string {
	const most = 40
	runes := []rune(path)
	if len(runes) <= most {
		return path
	}
	return "…" + string(runes[len(runes)-most:])
}

// agentText returns an agent, and of a very long one its beginning.
func agentText(agent string) string {
	const most = 200
	runes := []rune(agent)
	if len(runes) <= most {
		return agent
	}
	return fmt.Sprintf("%s (%s more)", string(runes[:most]), format.Count(int64(len(runes)-most), "character"))
}
