package who

// Whether a password was right shows in the answer, and which answer that is differs from site to site:
//
//	an API         a wrong one 401 or 403     a right one 200
//	WordPress      a wrong one 200, again     a right one 302, to the first page
//
//	Joomla         either one 303
//
// Where wrong ones are denied, all other answers are right ones. Where some tries are redirected and some answered, a
// redirection is a right one. Where all get the same answer, a client's last try may have been right, and no other: who was
// let in does not try again.

// Logins are the tries of passwords of a whole log.
type Logins struct {
	Tries [triesCount]int64
}

func (l *Logins) add(r *record) {
	for i, n := range r.tries {
		l.Tries[i] += int64(n)
	}
}

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

// of returns how many passwords of a client were wrong, and how many right.
func (l *Logins) of(r *record) (wrong, right uint32) {
	all := r.tries[denied] + r.tries[answered] + r.tries[moved]
	switch {
	case l.isSome(denied):
		return r.tries[denied], all - r.tries[denied]
	case l.isSome(answered) && l.isSome(moved):
		return r.tries[answered], r.tries[moved]
	case all == 0:
		return 0, 0
	}
	return all - 1, 1
}
