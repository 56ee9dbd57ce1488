package parse

import "shadow/limit"

// measureStamp reads a stamp, or a part of one.
func (s *reader) measureStamp(st *step, b []byte) (n int, reason string) {
	var t limit.Time
	switch st.kind {
	case kindLocal:
		t, n, reason = s.clock.local(b)
	case kindISO:
		t, n, reason = s.clock.iso(b)
	case kindEpoch:
		t, n, reason = s.clock.epoch(b)
	case kindEpochMilli:
		t, n, reason = epochOf(b, limit.Millisecond, st.bad)
	case kindEpochMicro:
		t, n, reason = epochOf(b, limit.Microsecond, st.bad)
	default:
		parts := &s.parts
		if st.idle {
			parts = &s.unused
		}
		switch st.kind {
		case kindMilliFrac:
			n = parts.fraction(b, 3)
		case kindMicroFrac:
			n = parts.fraction(b, 6)
		default:
			n, s.rest = parts.read(st.strptime, b), len(b)
		}
		if n < 0 {
			return 0, st.bad
		}
		return n, ""
	}
	if !st.idle {
		s.stamp = t
	}
	return n, reason
}

// epochOf reads a whole number of units since the epoch.
func epochOf(b []byte, unit limit.Time, bad string) (t limit.Time, n int, reason string) {
	if t, n = thousandths(b, unit); n <= 0 {
		return 0, 0, bad
	}
	return t, n, ""
}

// time is the stamp of the line that has been read.
func (s *reader) time() (limit.Time, string) {
	if !s.prog.pieced {
		return s.stamp + s.parts.micros, ""
	}
	return s.parts.time(&s.clock)
}
