package findings

import (
	"fmt"
	"slices"
	"strings"

	"shadow/report/format"
	"shadow/request"
	"shadow/traffic/match"
)

// A heavy client may be no visitor at all. What it is is told only where it shows.

// machines tells of them, and of those of which no more is known than how much they send.
func (l *clients) machines() (found []Finding) {
	var own, checks, others []int32
	attackers := l.attackers()
	l.attack = slices.Clone(attackers)
	for i := range l.heavy {
		h := &l.heavy[i]
		switch c := l.all.At(h.id); {
		case l.name(h.id) == "-": // many, perhaps
		case l.isOwnServer(h, c):
			own = append(own, h.id)
		case l.isHealthCheck(h, c):
			checks = append(checks, h.id)
		case slices.Contains(attackers, h.id):
		case 5*c.requests() > l.total && !c.several(crowdedFrom):
			others = append(others, h.id)
		}
	}
	l.works = slices.Concat(own, checks)
	add := func(code string, severity Severity, ids []int32, what string) {
		if len(ids) == 0 {
			return
		}
		l.busiestFirst(ids)
		var requests int64
		for _, id := range ids {
			requests += l.all.At(id).requests()
		}
		f := Finding{Code: code, Severity: severity, Share: ShareOf(requests, l.total)}
		does := l.does
		if code == "attacker" && len(ids) > 1 {
			does = l.together
		}
		f.Evidence = fmt.Sprintf("%s requests come from %s: %s, %s", format.Share(requests, l.total), l.named(ids), what, does(ids))
		if (code == "own_server" || code == "health_check") && l.byAddress() {
			f.Remedy = l.exclude(ids)
		}
		found = append(found, f)
	}
	add("own_server", Warn, own, "the site's own work, no visitors")
	add("health_check", Warn, checks, "checks whether the site is up")
	add("attacker", Info, attackers, "an attack, which limits are for, so do not leave it out")
	add("heavy_client", Warn, others, "each is a large part of the log, so look who it is (`shadow explain`)")
	return found
}

// exclude are the flags that leave clients out.
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

// does says what the first of some heavy clients does most: its action, and its agent.
func (l *clients) does(ids []int32) string {
	id := ids[0]
	h := &l.heavy[l.ranks[id]-1]
	what := "mostly " + l.actionOf(h)
	if c := l.all.At(id); c.is(c.errors, 50) {
		what = fmt.Sprintf("%s of its answers are errors", format.Percentage(format.PercentOf(int64(c.errors), c.requests())))
	}
	what += ", by " + agentText(l.Read.Tables.Agents.Name(int32(top(h.agents[:]).id)))
	if owner := l.Known.Owners.Of(l.address(id)).String(); owner != "" {
		what += ", of " + owner
	}
	return what
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

// actionOf is the action that a heavy client asks for most.
func (l *clients) actionOf(h *heavy) string {
	return l.Read.Tables.Actions.Name(int32(top(h.actions[:]).id))
}

// one reports whether a heavy client asks for one action, in so many percent of its requests.
func (h *heavy) one(percent int64) bool { return 100*top(h.actions[:]).n >= percent*h.counted }

// isOwnServer goes by the address, and by what only a server asks of itself.
func (l *clients) isOwnServer(h *heavy, c *client) bool {
	agent := l.Read.Tables.Agents.Name(int32(top(h.agents[:]).id))
	switch {
	case c.is(c.classes[request.Browser], 5):
		return false
	case l.address(h.id).IsLoopback():
		return true
	case strings.Contains(agent, "internal dummy connection"):
		return true
	}
	for i := range h.actions {
		if a := h.actions[i]; a.n*10 >= h.counted && l.Read.Tables.Actions.Name(int32(a.id)) == "/wp-cron.php" {
			return strings.Contains(agent, "WordPress")
		}
	}
	return false
}

// isHealthCheck goes by the agent, or by one path that is asked for at an interval or from within.
func (l *clients) isHealthCheck(h *heavy, c *client) bool {
	if c.is(c.classes[request.Monitor], 90) {
		return true
	}
	if !h.one(90) || c.is(c.classes[request.Browser], 5) || c.is(c.errors, 10) || !h.regular() && !match.IsPrivate(l.address(h.id)) {
		return false
	}
	action := l.actionOf(h)
	return action == "/" || holdsAny(action, healthPaths)
}

// IsLogin reports whether an action looks like one at which passwords are tried.
func IsLogin(action string) bool { return holdsAny(action, loginPaths) }

// healthPaths are parts of what health checks ask for, loginPaths of what passwords are tried at.
var (
	healthPaths = []string{"health", "status", "ping", "alive", "ready", "heartbeat", "probe", "monitor", "check"}
	loginPaths  = []string{"login", "xmlrpc", "signin", "sign-in", "administrator", "wp-admin", "/auth", "session", "password", "register", "signup", "join"}
)

func holdsAny(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// isAttacker reports whether a client looks for what is not there, or tries passwords and fetches no file of a page.
func (l *clients) isAttacker(c *client) bool {
	return c.requests() >= leastAttack && !c.is(c.classes[request.Crawler]+c.classes[request.Monitor], 10) &&
		(c.is(c.errors, 50) || !c.is(c.files, 1) && c.is(c.logins, 80))
}

// attackers are those who send a twentieth of all requests, each or together. What programs of an API or app ask for is
// often not there, as with the mirror of a package manager, so there each must send as many.
func (l *clients) attackers() (ids []int32) {
	sum := int64(0)
	for id := range int32(l.all.Len()) {
		c := l.all.At(id)
		if !l.isAttacker(c) || l.name(id) == "-" || l.kind == API && 20*c.requests() < l.total {
			continue
		}
		if rank := l.ranks[id]; rank > 0 && (l.isOwnServer(&l.heavy[rank-1], c) || l.isHealthCheck(&l.heavy[rank-1], c)) {
			continue
		}
		ids = append(ids, id)
		sum += c.requests()
	}
	if 20*sum < l.total || sum < mustRequests {
		return nil
	}
	return ids
}

// leastAttack is how many requests show that a client does nothing else.
const leastAttack = 5

// together says what several clients do.
func (l *clients) together(ids []int32) string {
	var requests, errors, logins int64
	for _, id := range ids {
		c := l.all.At(id)
		requests, errors, logins = requests+c.requests(), errors+int64(c.errors), logins+int64(c.logins)
	}
	return fmt.Sprintf("%s of the answers are errors, and %s of the requests try passwords",
		format.Percentage(format.PercentOf(errors, requests)), format.Percentage(format.PercentOf(logins, requests)))
}
