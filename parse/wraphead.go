package parse

import "bytes"

// HAProxy, and others that log by way of syslog, have their lines written behind a header, a Wrapping:
//
//	Mar  2 10:00:00 lb1 haproxy[17]: …                              RFC 3164, as rsyslog and syslog-ng write it to files
//	<134>Mar  2 10:00:00 haproxy[17]: …                             RFC 3164 as it is sent: a priority in front, perhaps no host
//	<134>Mar  2 10:00:00 lb1 haproxy …                              the same without a colon behind the tag
//	2026-03-02T10:00:00.250000+00:00 lb1 haproxy[17]: …             rsyslog's file format
//	<134>1 2026-03-02T10:00:00.25Z lb1 haproxy 17 - - …             RFC 5424
//	<134>1 2026-03-02T10:00:00.25Z lb1 haproxy 17 ID [a b="]"] …    RFC 5424 with structured data
//
// A time without a year says too little to be that of a request.

// Syslogged is the named format whose lines may stand behind a header; detection finds others there as well.
const Syslogged = "haproxy"

// syslogHeader returns how many bytes of a line are a header of syslog, 0 if it has none, and its time.
func syslogHeader(line []byte) (n int, stamp []byte) {
	at := syslogPriority(line)
	rest, size := line[at:], header3164
	if len(rest) > 2 && rest[0]-'1' < 9 && rest[1] == ' ' {
		at, rest, size = at+2, rest[2:], header5424
	}
	if n = size(rest); n == 0 {
		return 0, nil
	}
	if isoStamp(rest) {
		stamp = firstWord(rest)
	}
	return at + n, stamp
}

// syslogPriority returns the length of "<134>", 0 if there is none.
func syslogPriority(line []byte) int {
	if len(line) == 0 || line[0] != '<' {
		return 0
	}
	for i := 1; i < min(len(line), len("<191>")); i++ {
		if line[i] == '>' && i > 1 {
			return i + 1
		}
		if line[i]-'0' > 9 {
			return 0
		}
	}
	return 0
}

// header3164 returns the length of a time, perhaps a host, and a tag, with the spaces behind them. The tag ends in a
// colon, or behind a time of syslog's own it is the word before the line, which begins with an address, a bracket, a
// quote or a digit.
func header3164(b []byte) int {
	at := len("Mar  2 10:00:00")
	switch {
	case len(b) > at && b[at] == ' ' && syslogStamp(b):
	case isoStamp(b):
		at = bytes.IndexByte(b, ' ')
	default:
		return 0
	}
	bare := 0             // where the line begins if the tag has no colon
	for word := range 2 { // the tag is the first or the second word
		if at < 0 || at+1 >= len(b) {
			return 0
		}
		end := bytes.IndexByte(b[at+1:], ' ')
		if end <= 0 {
			return 0
		}
		if end += at + 1; b[end-1] == ':' {
			return end + 1
		}
		if at = end; syslogStamp(b) && (word == 1 || beginsLine(b[end+1:])) && bare == 0 {
			bare = end + 1
		}
	}
	if bare > 0 && beginsLine(b[bare:]) {
		return bare
	}
	return 0
}

// beginsLine reports whether a line of a log can begin so, and the name of a program cannot.
func beginsLine(b []byte) bool {
	if word := firstWord(b); len(word) > 0 {
		if _, is := Addr(host(word)); is {
			return true
		}
	}
	return len(b) > 0 && (bytes.IndexByte([]byte(`["{`), b[0]) >= 0 || b[0]-'0' < 10)
}

// syslogStamp reports whether b begins with "Mar  2 10:00:00".
func syslogStamp(b []byte) bool {
	return monthNamed(b) > 0 && b[3] == ' ' && (b[4] == ' ' || b[4]-'0' < 10) && b[5]-'0' < 10 && b[6] == ' ' && clockTime(b[7:])
}

// isoStamp reports whether b begins with "2026-03-02T10:00:00".
func isoStamp(b []byte) bool {
	return len(b) > len("2026-03-02T10:00:00") && digitsAt(b, 0, 1, 2, 3, 5, 6, 8, 9) &&
		b[4] == '-' && b[7] == '-' && b[10] == 'T' && clockTime(b[11:])
}

func clockTime(b []byte) bool { return digitsAt(b, 0, 1, 3, 4, 6, 7) && b[2] == ':' && b[5] == ':' }

func digitsAt(b []byte, places ...int) bool {
	for _, i := range places {
		if b[i]-'0' > 9 {
			return false
		}
	}
	return true
}

// header5424 returns the length of time, host, program, process and message id, and of the structured data behind them.
func header5424(b []byte) int {
	at := 0
	for word := range 5 {
		end := bytes.IndexByte(b[at:], ' ')
		if end <= 0 || word == 0 && string(b[:end]) != "-" && !isoStamp(b[:end+1]) {
			return 0
		}
		at += end + 1
	}
	n := structuredData(b[at:])
	if at += n; n == 0 || at >= len(b) || b[at] != ' ' {
		return 0
	}
	at++
	if bytes.HasPrefix(b[at:], []byte("\xef\xbb\xbf")) {
		at += 3
	}
	return at
}

// structuredData returns the length of "-", or of elements in brackets, in whose quoted values a backslash escapes.
func structuredData(b []byte) int {
	if len(b) > 0 && b[0] == '-' {
		return 1
	}
	at := 0
	for at < len(b) && b[at] == '[' {
		quoted := false
		for at++; at < len(b) && (quoted || b[at] != ']'); at++ {
			switch {
			case b[at] == '"':
				quoted = !quoted
			case b[at] == '\\' && quoted:
				at++
			}
		}
		if at++; at > len(b) {
			return 0
		}
	}
	return at
}

// Mostly reports whether at least half of the lines are of a kind. It looks at no more of them than it needs to.
func Mostly(lines [][]byte, is func([]byte) bool) bool {
	n, others := 0, 0
	for _, line := range lines {
		if is(line) {
			if n++; 2*n >= len(lines) {
				return true
			}
		} else if others++; 2*others > len(lines) {
			return false
		}
	}
	return false
}

// Other collectors have shorter heads.

// firstWord returns what stands before the first space.
func firstWord(b []byte) []byte { return b[:max(0, bytes.IndexByte(b, ' '))] }

// stampHead is a time in ISO 8601, and a space.
func stampHead(line []byte) (n int, stamp []byte) {
	if !isoStamp(line) {
		return 0, nil
	}
	if stamp = firstWord(line); len(stamp) == 0 {
		return 0, nil
	}
	return len(stamp) + 1, stamp
}

// colourHead says of a line with a colour that it is wrapped: in what may stand anywhere.
func colourHead(line []byte) (n int, stamp []byte) {
	return bytes.Count(line, []byte(colourBegin)), nil
}

// colourBegin begins a sequence that sets the colour or weight of letters: ESC [ 97;42 m (ECMA-48, 8.3.117).
const colourBegin = "\x1b["

// uncoloured takes such sequences off a line, in its own bytes.
func uncoloured(line []byte) []byte {
	to := 0
	for rest := line; len(rest) > 0; {
		at := bytes.Index(rest, []byte(colourBegin))
		if at < 0 {
			at = len(rest)
		}
		to += copy(line[to:], rest[:at])
		rest = rest[at:]
		if end := bytes.IndexFunc(rest[min(len(rest), len(colourBegin)):], notOfColour); end >= 0 && rest[len(colourBegin)+end] == 'm' {
			rest = rest[len(colourBegin)+end+1:]
		} else if len(rest) > 0 {
			line[to], rest = rest[0], rest[1:]
			to++
		}
	}
	return line[:to]
}

func notOfColour(r rune) bool { return r != ';' && r != ':' && (r < '0' || r > '9') }

// criHead is a time, a stream, and whether the line is whole.
func criHead(line []byte) (n int, stamp []byte) {
	if n, stamp = stampHead(line); n == 0 {
		return 0, nil
	}
	for _, stream := range []string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
		if bytes.HasPrefix(line[n:], []byte(stream)) {
			return n + len(stream), stamp
		}
	}
	return 0, nil
}

// logcliHead is a time, and labels in braces, in whose quoted values a backslash escapes.
func logcliHead(line []byte) (n int, stamp []byte) {
	n, stamp = stampHead(line)
	if n == 0 || n == len(line) || line[n] != '{' {
		return 0, nil
	}
	quoted := false
	for i := n; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return len(line) - len(bytes.TrimLeft(line[i+1:], " \t")), stamp
		}
	}
	return 0, nil
}

// kubectlHead is the path of a pod and a container in brackets.
func kubectlHead(line []byte) (n int, stamp []byte) {
	if !bytes.HasPrefix(line, []byte("[pod/")) {
		return 0, nil
	}
	if n = bytes.Index(line, []byte("] ")) + 2; n < len("[pod/] ") {
		return 0, nil
	}
	return n, nil
}

// pythonHead is a level and the name of a logger, each with a colon.
func pythonHead(line []byte) (n int, stamp []byte) {
	for n < len(line) && line[n]-'A' < 26 {
		n++
	}
	level := n
	for n++; n < len(line) && (isNameByte(line[n]) || line[n] == '.'); {
		n++
	}
	if level < len("INFO") || n < level+2 || n >= len(line) || line[level] != ':' || line[n] != ':' {
		return 0, nil
	}
	return n + 1, nil
}

// quoteHead is a quote before a line whose next quote opens one of its values: one is behind a blank.
func quoteHead(line []byte) (n int, stamp []byte) {
	if len(line) == 0 || line[0] != '"' {
		return 0, nil
	}
	if next := bytes.IndexByte(line[1:], '"') + 1; next < 2 || line[next-1] != ' ' {
		return 0, nil
	}
	return 1, nil
}

// composeHead is the name of a container, which has a letter, and a bar.
func composeHead(line []byte) (n int, stamp []byte) {
	letter := false
	for n < len(line) && (isNameByte(line[n]) || line[n] == '-' || line[n] == '.') {
		letter = letter || line[n] > '9'
		n++
	}
	name := n
	for n < len(line) && line[n] == ' ' {
		n++
	}
	if !letter || n == name || !bytes.HasPrefix(line[n:], []byte("| ")) {
		return 0, nil
	}
	return n + len("| "), nil
}

// consoleHead finds what Caddy writes before the object of a request: time, level, logger, message, between tabs.
func consoleHead(line []byte) (n int, stamp []byte) {
	if len(line) < len("2026/03/02 10:00:00") || line[4] != '/' && line[4] != '-' || line[7] != line[4] || !clockTime(line[11:]) {
		return 0, nil
	}
	tab := bytes.IndexByte(line, '\t')
	if n = bytes.Index(line, []byte("\t{")) + 1; n == 0 || tab < len("2026/03/02 10:00:00") {
		return 0, nil
	}
	return n, line[:tab]
}
