package detect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An UnknownFormatError is a log that no format reads. It shows the first line and what each format missed in it.
type UnknownFormatError struct {
	First string // the first line, fit to be shown
	Lines int    // of the sample

	tried []Detection
	looks string // what the log seems to be, "" when unknown
}

// maxShown is how much of a line is shown, in bytes.
const maxShown = 200

// Error says what was found, on several lines.
func (e *UnknownFormatError) Error() string {
	if e.looks != "" {
		return e.looks + "\n  first line: " + e.First
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the format of the log is not known\n  first line: %s\n", e.First)
	for _, d := range e.tried {
		fmt.Fprintf(&b, "  as %s, %d of %d lines make sense: %s (column %d)\n", d.Format.Name, d.sound, d.Lines, d.fault.Reason, d.fault.Column)
	}
	if strings.HasPrefix(e.First, "{") {
		return b.String() + "  say which keys hold what, such as --field time=ts,client=remote_addr,path=uri"
	}
	return b.String() + "  state it as in the server's configuration: --format '$remote_addr - $remote_user [$time_local] \"$request\" …' (nginx), " +
		"--format '%h %l %u %t \"%r\" …' (Apache), or --nginx-conf /etc/nginx/nginx.conf --log-name main"
}

// Misfit is the error of a stated format that reads no line of the sample, nil when it reads one or there is none. A
// file that is named explicitly is read all the same, so that each line is reported with its reason.
func (d *Detection) Misfit() error {
	if d.Read > 0 || d.Lines == 0 {
		return nil
	}
	return fmt.Errorf("no line of its beginning fits the format that was stated: %s (column %d)", d.fault.Reason, d.fault.Column)
}

// showLine makes a line of a log fit to be shown: cut at maxShown bytes, and with a sign in the place of each
// character that a terminal would obey or that is not one.
func showLine(line []byte) string {
	cut := len(line) > maxShown
	if cut {
		end := maxShown
		for end > maxShown-utf8.UTFMax && !utf8.RuneStart(line[end]) {
			end--
		}
		line = line[:end]
	}
	shown := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, string(line))
	if cut {
		shown += "…"
	}
	return shown
}
