package who

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/limit"
	"shadow/report/format"
)

// isHostile looks for those most of whose requests are an attack, whatever they say that they are.
func isHostile(c *Census, client int32, r *record) answer {
	if deeds := r.tried() + r.probes; deeds < leastRequests || !r.is(deeds, 50) || c.observer.address(client).IsLoopback() {
		return answer{}
	}
	return isAttacker(c, client, r)
}

func isOwn(c *Census, client int32, r *record) answer {
	switch browses := r.is(r.classes[request.Browser], 5); { // what costs more is asked last
	case r.works():
		return since(Own, "%v of its requests are the site's own work", r.worked)
	case r.is(r.declared, 10):
		return since(Own, "its agent names the site's own work")
	case r.classes[request.Browser] == 0 && namesHost(c.observer.Tables.Agents.Name(int32(r.agent.value)), c.hosts):
		return since(Own, "its agent names a host of this site")
	case !browses && c.observer.address(client).IsLoopback():
		return since(Own, "comes from the server itself")
	case !browses && c.logsInRightly(r) && c.observer.isPrivate(client):
		return since(Own, "logs in from an inner address, with right passwords")
	}
	return answer{}
}

// logsInRightly reports whether most steps of a client are tries of passwords, and hardly one of them is wrong.
func (c *Census) logsInRightly(r *record) bool {
	wrong, right, _ := c.Logins.of(r)
	return c.Logins.tell() && int64(right) >= leastWrong && 20*wrong <= right && 2*(wrong+right) >= r.steps
}

// works reports whether most of what a client asks for is what a site asks of itself, at the pace of a scheduler. Who
// asks for that more often floods the site by it.
func (r *record) works() bool {
	return r.worked > 0 && r.is(r.worked, 50) && r.worked <= 10*r.together.Active && !r.is(r.classes[request.Browser], 50)
}

// Claims reports whether a client monitors the site or works for it by its own word alone, which is no reason to let it
// through.
func (c *Census) Claims(client int32) bool {
	o, r := c.observer, c.observer.records.At(client)
	switch c.Identities.Of(client) {
	case Own:
		return r.told == 0 && !r.works() && !o.isPrivate(client)
	case Monitor:
		return !o.checksInside(client) && !o.isRegular(client)
	}
	return false
}

// isRegular reports whether a client asks for few pages at a fixed interval, and for nothing else. Pages that renew
// themselves, scalpers and feed readers do so as well: it must be a monitor by name or come from an inner address, or ask
// whether the site is up. Of short intervals it must be a program or a monitor by name, and ask for a health check.
func (o *Observer) isRegular(client int32) bool {
	r := o.records.At(client)
	if r.rhythm.every < quickest && (!r.checks() && !r.is(r.classes[request.Monitor], 90) || !o.asksIfUp(int32(r.action.value))) {
		return false
	}
	span := limit.Time(r.rhythm.every) * limit.Time(r.rhythm.gaps) * limit.Second
	return r.atFixedTimes() && r.rhythm.every <= slowest && r.files == 0 && some(r.pages) <= fewPages && r.posts == 0 &&
		span >= 10*limit.Minute && !r.is(r.errors, 50) &&
		(r.is(r.checked, 90) || r.is(r.classes[request.Monitor], 90) || o.isPrivate(client))
}

// polls returns what a client that asks for few pages at a fixed interval does, "" of another.
func (r *record) polls() string {
	if !r.atFixedTimes() || r.files > 0 || some(r.pages) > fewPages || r.rhythm.every > slowest {
		return ""
	}
	return fmt.Sprintf("asks every %d s for %s: yours?", r.rhythm.every, format.Count(int64(max(1, some(r.pages))), "page"))
}

func isMonitor(c *Census, client int32, r *record) answer {
	switch {
	case r.is(r.classes[request.Monitor], 90) && some(r.pages) < manyPages:
		return since(Monitor, "says that it is one")
	case c.observer.isRegular(client) && c.beats[r.action.value] < manyBeats:
		return since(Monitor, "asks every %v s for %v pages, and for no file", r.rhythm.every, some(r.pages))
	case c.observer.checksInside(client):
		return since(Monitor, "asks for one page alone, from an inner address")
	}
	return answer{}
}

// checksInside reports whether a client asks from an inner address whether the site is up.
func (o *Observer) checksInside(client int32) bool {
	r := o.records.At(client)
	one := r.checks() && o.isCheck(int32(r.action.value))
	return (one || r.looks() && r.is(r.checked, 90) && some(r.pages) <= fewPages) && o.isPrivate(client)
}

// checks reports whether a program asks for the same again and again, nine times of ten, and sends nothing. Of such a
// majority the vote holds eight tenths.
func (r *record) checks() bool { return r.looks() && r.is(r.action.votes, 80) }

// looks reports whether a program asks for what is there, and sends nothing.
func (r *record) looks() bool {
	return r.steps >= leastGaps && r.posts == 0 && !r.is(r.classes[request.Browser], 5) && !r.is(r.errors, 10)
}

// isCheck reports whether an action is one by which balancers and the like ask whether a site is up: the first page, or
// what says so.
func (o *Observer) isCheck(action int32) bool {
	path := o.path(action)
	return path == "/" || holdsAny(path, checks)
}

// asksIfUp is isCheck of a path that is made for it: a shop has /checkout and /shipping as well.
func (o *Observer) asksIfUp(action int32) bool {
	return slices.ContainsFunc(strings.Split(o.path(action), "/"), func(segment string) bool {
		segment, _, _ = strings.Cut(strings.TrimLeft(segment, "_-."), ".")
		return slices.Contains(endpoints, segment)
	})
}

// endpoints are the usual names of what reports whether a site is up.
var endpoints = []string{
	"alive", "health", "health-check", "health_check", "healthcheck", "healthz", "heartbeat", "live", "liveness", "livez",
	"nginx_status", "ping", "readiness", "ready", "readyz", "server-status", "stub_status", "up",
}

// path returns that of an action, in lower case.
func (o *Observer) path(action int32) string {
	name := o.Tables.Actions.Name(action)
	if _, path, found := strings.Cut(name, " "); found {
		name = path
	}
	return strings.ToLower(name)
}

// checks are parts of what health checks ask for.
var checks = []string{"health", "status", "ping", "alive", "ready", "heartbeat", "probe", "monitor", "check"}
