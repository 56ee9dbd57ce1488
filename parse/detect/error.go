package detect

import (
	"cmp"
	"fmt"
	"slices"
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
	guess string // a format that reads most lines, "" if none was found
	read  int    // how many it reads
	bare  bool   // whether no line has an address
}

// maxShown is the most that is shown of a line, in bytes.
const maxShown = 200

// Error says what was found, on several lines.
func (e *UnknownFormatError) Error() string {
	if e.looks != "" {
		return e.looks + "\n  first line: " + e.First
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the format of the log is not known\n  first line: %s\n", e.First)
	// Of web servers the one by which most lines make sense; of several the one that breaks furthest to the right.
	near := slices.MaxFunc(e.tried[:min(len(e.tried), webServers)], func(a, b Detection) int {
		return cmp.Or(cmp.Compare(a.sound, b.sound), cmp.Compare(a.fault.Column, b.fault.Column))
	})
	if i := slices.IndexFunc(e.tried, func(d Detection) bool { return d.Format.Name == "json" }); i >= 0 && near.sound == 0 {
		near = e.tried[i] // it knows the names of all
	}
	fmt.Fprintf(&b, "  the nearest is %s, by which %d of %d lines make sense: %s (column %d)\n", near.Format.Name, near.sound, near.Lines,
		near.fault.Reason, near.fault.Column)
	if e.bare {
		b.WriteString("  no line shows the address of a client, by which limits count: log it, or state what stands for it\n")
	}
	if e.guess != "" {
		return b.String() + fmt.Sprintf("  this reads %d of %d lines; see with shadow doctor parse whether each field is what it is called:\n  --format %s",
			e.read, e.Lines, quoteShell(e.guess))
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
