package follow

import (
	"slices"
	"time"

	"shadow/internal/logfile"
)

// What lies beside a log is looked at when another file has its name, or none, when it was truncated, and when it may have been
// without a trace. Each look decides on each file, by the first that holds:
//
//	it is being read                                         none that has come
//	it is a file of the checkpoint that was not found yet    read on from where that ended
//	it was read, or is not to be, or another log reads it    none that has come
//	it is being compressed                                   decided by a later look
//	it begins as a file that is being read                   a copy: none that has come
//	it holds the rest of a file that was deleted             read on from there, when that has been read
//	it goes on where the log was truncated                   read on from there
//	anything else                                            read from its start, or from where it was closed
//
// Only what was decided on is known from then on, so that what comes a moment later is found by the next look.

// A gatherer is one such look.
type gatherer struct {
	*Log
	live  File // the file that has the name
	found []File
	rests []logfile.SavedFile // what some of them go on from
	again bool                // whether there is something left to decide on
	moved bool                // whether one got another name between being seen and being opened
}

// mostLooks is the most looks at what lies beside a log, while files that are to be opened get other names, before what
// is newer is read.
const mostLooks = 10

// gather takes in the siblings that have come, oldest first. live is the file that has the name by now, if the log does not
// read it yet. Before, all files learn what they begin with, so that copies of them are known; one that has begun again is read
// from its beginning.
func (l *Log) gather(live *plain) *gatherer {
	g := &gatherer{Log: l}
	last := len(l.files) - 1
	if live != nil {
		g.live = live
	} else if last >= 0 && !l.lost {
		g.live = l.files[last]
	}
	truncated := l.renew()
	before := l.known
	settled, alone := g.decideAll()
	// A disk that is away comes back with all that was on it.
	l.keepKnown(before, settled && !l.gone)
	if l.pending = g.again; !l.pending {
		g.giveUpFormers(alone)
	}
	if truncated {
		l.tellTruncated()
	}
	l.insert(g.found...)
	return g
}

// renew has the files learn what they begin with, and the last one begin again if it was truncated, which it reports.
func (l *Log) renew() (truncated bool) {
	for i, one := range l.files {
		f, ok := one.(*plain)
		if !ok || f.refresh() != errTruncated || i != len(l.files)-1 {
			continue
		}
		truncated = true
		l.formers = append(l.formers, f.saved())
		f.renew()
		_ = f.refresh() // what cannot be read now is read later
	}
	return truncated
}

// decideAll decides on all siblings, and looks again while some get other names meanwhile. What it decided on is known
// from then on. It reports whether the look at them is settled, and whether there are none.
func (g *gatherer) decideAll() (settled, alone bool) {
	var known []logfile.Identity
	for look := 1; look == 1 || g.moved && look <= mostLooks; look++ {
		g.looked, g.stamps = g.set.Now(), g.stampsOf()
		var siblings []logfile.Sibling
		siblings, settled = g.siblings()
		alone = len(siblings) == 0
		g.again, g.moved = !settled, false
		for i := range siblings {
			r := &siblings[i]
			if look > 1 && slices.ContainsFunc(known, r.Was) { // decided by the look before
				continue
			}
			if g.decide(r) && r.ID.HeadBytes > 0 {
				known = append(known, r.ID)
			}
			if g.moved && look < mostLooks { // those behind it are newer
				break
			}
		}
	}
	g.known = known
	return settled, alone
}

// giveUpFormers forgets the rests of what the log was before it was truncated, of which there is no copy. A file that
// has the name still was not truncated.
func (g *gatherer) giveUpFormers(alone bool) {
	for _, was := range g.formers {
		if g.isLive(was) {
			continue
		}
		if was.HeadBytes == logfile.HeadBlock { // should the copy join as a log of its own
			g.closed = keepInMind(g.closed, was, keptClosed)
		}
		if alone { // else one of them may be the copy, shifted or packed meanwhile and not recognised
			g.set.Lost()
		}
		if now := g.set.Now(); now.Sub(g.uncopied) >= time.Minute {
			g.uncopied, g.truncated = now, now
			g.set.Say("%s: was truncated, and no copy of it is found; what was written to it behind byte %d is lost",
				g.Name, was.Offset)
		}
	}
	g.formers = nil
}

// gatherPending gathers what the last look could not decide on.
func (l *Log) gatherPending() {
	if l.pending {
		l.gather(nil)
	}
}

// insert puts files before the one that has the name.
func (l *Log) insert(found ...File) {
	at := len(l.files)
	if at > 0 && !l.lost {
		at--
	}
	l.files = slices.Insert(l.files, at, found...)
}

// decide takes a sibling in, if it has come. It reports whether that is decided.
func (g *gatherer) decide(r *logfile.Sibling) bool {
	if g.reads(r) {
		return true
	}
	if i := slices.IndexFunc(g.missing, func(f logfile.SavedFile) bool { return r.WasItself(f.Identity) }); i >= 0 {
		return g.goOn(r, &g.missing, i)
	}
	if g.set.isTaken(g.Log, r.Path, r.Info) || g.set.isKnown(r.WasItself) {
		return true
	}
	if !r.Beside { // before what is known: what has been compressed since may have grown before
		if i := slices.IndexFunc(g.missing, func(f logfile.SavedFile) bool { return continues(r, f) && !g.isLive(f) }); i >= 0 {
			return g.goOn(r, &g.missing, i)
		}
	}
	if g.knows(r) {
		return true
	}
	if r.Beside {
		return false
	}
	if isCopy, sure := g.isCopyOfLive(r); isCopy {
		g.again = g.again || !sure
		return false // it may be truncated next, and its rest be read from this one
	}
	if f := g.restIn(r); f != nil {
		return g.takeRest(r, f)
	}
	if slices.ContainsFunc(slices.Concat(g.files, g.found), func(one File) bool { return !isLeft(one) && isCopy(r, one) }) {
		return true
	}
	if i := slices.IndexFunc(g.formers, func(f logfile.SavedFile) bool { return continues(r, f) }); i >= 0 {
		return g.goOn(r, &g.formers, i)
	}
	if f, ok := g.live.(*plain); ok && f.HeadBytes > 0 && f.check() == errTruncated { // so it may be a copy of what is there by now
		g.again = true
		return false
	}
	return g.take(r, logfile.Place{})
}

// goOn reads a sibling on from where reading of the file stopped that it continues. That stays in mind until then.
func (g *gatherer) goOn(r *logfile.Sibling, stopped *[]logfile.SavedFile, i int) bool {
	was := (*stopped)[i]
	if copied := g.isCopied(r, was); !(copied && isRead(r, was)) && !g.take(r, was.Place) {
		return false
	} else if copied && stopped == &g.missing {
		g.tellTruncated()
	}
	g.rests = append(g.rests, was)
	*stopped = slices.Delete(*stopped, i, i+1)
	return true
}

// isLive reports whether a file is the one that has the name.
func (g *gatherer) isLive(was logfile.SavedFile) bool {
	f, ok := g.live.(*plain)
	return ok && f.was(was.Identity) && was.Stands(f.handle)
}

// reads reports whether the log reads a sibling, as it is.
func (g *gatherer) reads(r *logfile.Sibling) bool {
	is := func(one File) bool {
		_, ok := one.(*plain)
		return one.is(r.Info) || !ok && r.WasItself(one.saved().Identity)
	}
	return g.live != nil && is(g.live) || slices.ContainsFunc(g.files, is) || slices.ContainsFunc(g.found, is)
}

// isCopyOfLive reports whether a sibling is a copy of the file that has the name, and no older file that begins with the same lines.
// It is not sure where that was truncated a moment ago, which the next look will find.
func (g *gatherer) isCopyOfLive(r *logfile.Sibling) (copied, sure bool) {
	if g.live == nil {
		return false, true
	}
	f, ok := g.live.(*plain)
	if ok && f.HeadBytes == 0 {
		_ = f.refresh() // it may have been filled since, and copied
	}
	if !isCopy(r, g.live) {
		return ok && f.HeadBytes > 0 && !f.doubted && r.Is(f.Identity) && f.check() == errTruncated, false
	}
	return !ok || r.Compressed || r.Info.Size() < f.size || !r.Info.ModTime().Before(f.info.ModTime()), true
}

// take begins to read a sibling. It reports false if that has got another name, which another look will find.
func (g *gatherer) take(r *logfile.Sibling, at logfile.Place) bool {
	if r.Compressed && at == (logfile.Place{}) {
		at, _ = g.stopped(r.Is, r.WasItself)
	}
	one, err := g.open(*r, at)
	if logfile.HasMoved(err) {
		g.again, g.moved = true, true
		return false
	}
	if err != nil {
		g.set.Say("%s: %v", r.Path, err)
		return true
	}
	if f, ok := one.(*plain); ok && at == (logfile.Place{}) {
		f.Place, _ = g.stopped(f.begins, f.was)
		f.blank = f.isShort()
	}
	g.found = append(g.found, one)
	return true
}
