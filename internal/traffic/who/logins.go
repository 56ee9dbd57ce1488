package who

import (
	"strings"

	"shadow/internal/request"
)

// Whether a password was right shows in the answer, and which answer that is differs from site to site:
//
//	an API         a wrong one 401 or 403     a right one 200
//	WordPress      a wrong one 200, again     a right one 302, to the first page
//
//	Joomla         either one 303
//
// Where wrong ones are denied, all other answers are right ones. Where some tries are redirected and some answered, a
// redirection is a right one. Where all get the same answer, as by XML-RPC, none is known to be wrong: they were tries.

// Logins are the tries of passwords of a whole log.
type Logins struct {
	Tries [triesCount]int64

	failing, lapsed int64 // clients that had many rejected; of these, those that had right ones before and after
}

func (l *Logins) add(r *record) {
	for i, n := range r.tries {
		l.Tries[i] += int64(n)
	}
	if r.tries[rejected] >= leastWrong {
		if l.failing++; r.early && r.late {
			l.lapsed++
		}
	}
}

// outage reports whether most clients that had many passwords rejected had right ones before and after, so that it was the site
// that failed. Of one or two, each may have a password of its own and guess those of others.
func (l *Logins) outage() bool { return l.lapsed >= letIn && 2*l.lapsed >= l.failing }

// isSome reports whether an outcome is at least a hundredth of all.
func (l *Logins) isSome(outcome int) bool {
	n := l.Tries[outcome]
	return n > 0 && 100*n >= l.Tries[denied]+l.Tries[answered]+l.Tries[moved]
}

// in returns how many tries of a client were let in for sure: redirected, where some are redirected and some answered.
func (l *Logins) in(r *record) uint32 {
	if l.Tries[moved] > 0 && l.Tries[answered] > 0 {
		return r.tries[moved]
	}
	return r.tries[answered] + r.tries[moved]
}

// tell reports whether the answers tell right passwords from wrong ones.
func (l *Logins) tell() bool { return l.isSome(denied) || l.isSome(answered) && l.isSome(moved) }

// of returns how many passwords of a client were wrong, how many right, and of how many the answers do not tell.
func (l *Logins) of(r *record) (wrong, right, open uint32) {
	switch {
	case l.isSome(denied):
		wrong, right, open = r.tries[denied], r.tries[answered]+r.tries[moved], r.tries[ambiguous]
	case l.isSome(answered) && l.isSome(moved):
		wrong, right, open = r.tries[answered], r.tries[moved], r.tries[ambiguous]
	default:
		open = r.tried() - r.tries[rejected]
		right = min(open, r.used) // who is let in does something else
		open -= right
	}
	if n := r.rejections(); n > 0 && !(r.early && l.outage()) {
		wrong, right = wrong+n, right+r.tries[accepted]
	}
	return wrong, right, open
}

// rejections returns how many passwords were rejected, none of a client that has right ones as well: it is asked for one first,
// or one of its devices has an old one. Where logs have something else in place of users, only these tries are lost.
func (r *record) rejections() uint32 {
	if 5*r.tries[accepted] >= r.tries[rejected] {
		return 0
	}
	return r.tries[rejected]
}

// retries reports whether a client sends the password of one user again and again by a clock, as devices do that have an old one;
// or what renews a token, as an app does in a loop. Who guesses does it quickly, or for many users, or by a tool. A few times will
// do of what asks first without a password, as mail programs do.
func (c *Census) retries(r *record) bool {
	app := c.users[r.agent.value] >= leastCrowd
	if !app && r.is(r.classes[request.Tool], 50) || r.tries[rejected]+r.barred != r.steps || r.files > 0 || some(r.pages) > 1+int(min(r.barred, 1)) {
		return false
	}
	slow := r.rhythm.every >= retriesFrom || app
	return slow && r.atFixedTimes() || r.barred > 0 && r.tries[rejected] < neverTyped && r.tries[rejected] <= 2*r.together.Active
}

const retriesFrom = 10 // seconds

// mistypes reports whether a client tries passwords as a person does who mistypes some: not in bursts, then a right one, and
// then pages with files.
func (c *Census) mistypes(client int32, r *record) bool {
	wrong, right, _ := c.Logins.of(r)
	return right > 0 && wrong < manyWrong && r.tried() <= r.rhythm.gaps+1 && r.later >= 2 && r.files > 0 && c.follows(client)
}

// syncs reports whether a client is an app of its users that sends their passwords along, at their pace, or a program from within
// that does so.
func (c *Census) syncs(client int32, r *record) bool {
	most := uint32(perMinute)
	if holdsAny(strings.ToLower(c.observer.Tables.Agents.Name(int32(r.agent.value))), apps) {
		most = perMinuteOfApp
	} else if !c.observer.isPrivate(client) {
		return false
	}
	return r.tries[denied] == 0 && r.tried() <= most*r.together.Active
}

const ( // calls, on average of the minutes with one
	perMinute      = 5
	perMinuteOfApp = 30 // which asks for all that it shows by calls
)

// apps are parts of the agents of what speaks XML-RPC for the users of a site.
var apps = []string{"jetpack by wordpress.com", "wp-iphone", "wp-android"}
