package who

import "shadow/internal/request"

// isAttacker looks for what only attackers do: probes, failures on many targets, failed logins.
func isAttacker(c *Census, client int32, r *record) answer {
	wrong, right, open := c.Logins.of(r)
	browses := c.browses(client)
	switch tries, guesses := int64(r.tried()), int64(wrong+max(open, 1)-1); { // the last may have been right
	case r.is(r.scans, 10) && isOffice(c, client, r).reasons == nil:
		return since(Attacker, "its agent says that it scans")
	case r.got > 0 && !browses:
		return since(Attacker, "got %v answers to what must not be public", r.got)
	case r.probes >= leastRequests && !browses, r.scansPages(), r.steps >= leastRequests && 2*r.probes >= r.steps && (!browses || 2*r.errors >= r.steps):
		return since(Attacker, "%v of %v steps are those of a scanner", r.probes, r.steps)
	case 2*r.refused > r.steps && r.answered() < leastAnswered: // few answers are no sign
	case guesses >= leastWrong && 5*int64(right) < guesses && 3*tries >= int64(r.answered()) &&
		(!browses || right == 0 && wrong-r.rejections() >= neverTyped) && !c.mistypes(client, r) && !c.syncs(client, r):
		if wrong == 0 {
			return since(Attacker, "tried passwords %v times; the answers do not tell which were wrong", tries)
		}
		switch retries := c.retries(r); {
		case retries && r.is(r.classes[request.Tool], 50):
			return since(Program, "repeats what fails every %v s, as an app in a loop: yours?", r.rhythm.every)
		case retries:
			return since(Undecided, "sends a wrong password of one user again and again, as a device with an old one")
		}
		return since(Attacker, "%v of %v passwords were wrong"+map[bool]string{true: "; people too?"}[browses], wrong, wrong+right)
	case r.unpaid >= leastWrong && 10*r.unpaid >= 8*r.posts && holdsAny(c.observer.path(int32(r.form.value)), payments):
		return since(Attacker, "%v of %v payments were refused (402), as of who tries cards", r.unpaid, r.posts)
	case r.hammers():
		return since(Attacker, "%v of %v steps were answered with 400 or 401", r.barred, r.answered())
	case c.programs && !r.is(r.classes[request.Browser]+r.nameless, 50): // of a mirror, an API
	case r.fails() && !r.looksUp() && some(r.failed) >= leastRequests && !browses && !c.follows(client) && !c.seeksPackages(r) && !c.isUsual(client, r):
		return since(Attacker, "%v of %v steps failed, on %v targets or more", r.missing, r.answered(), some(r.failed))
	}
	return answer{}
}

// scansPages reports whether a client scans also where it shows pages with their files, as scanners do that drive a browser:
// many of its steps are those of a scanner, and most fail, on many targets.
func (r *record) scansPages() bool {
	return r.probes >= leastRequests && 10*r.probes >= r.steps && 2*r.errors >= r.steps && some(r.failed) >= manyPages
}

// hammers reports whether a program sends thousands of requests that are denied, hardly one that is not, and no more slowly than
// what has an old password does. A page that is left open asks so for its reader.
func (r *record) hammers() bool {
	return r.barred >= manyBarred && 10*r.barred >= 9*r.answered() && r.barred > r.together.Active*60/retriesFrom && !r.is(r.classes[request.Browser], 50)
}

const manyBarred = 1000

// payments are parts of the paths at which one pays. Elsewhere 402 is for who has used up what was paid for.
var payments = []string{"pay", "checkout", "charge", "card", "donat"}

// seeksPackages reports whether a client is a program that asks one mirror after the other for a package, most in vain.
func (c *Census) seeksPackages(r *record) bool {
	return c.observer.agents[r.agent.value].installs
}

var installers = []string{
	"apache-maven", "apache-ivy", "gradle/", "coursier", "bazel/", "nuget", "debian apt", "libdnf", "composer/", "apk-tools", "pacman/",
	"libzypp", "pip/", "npm/", "yarn/", "pnpm/", "cargo/", "docker/", "containerd/", "homebrew/",
}
