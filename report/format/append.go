package format

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"shadow/internal/escape"
	"shadow/limit"
)

// Lines about single requests are written as they come, of which there may be as many as a log has lines: what appends
// to them allocates nothing.

// A Clock appends moments. It keeps what those of one second have in common.
type Clock struct {
	second limit.Time // of text
	text   []byte     // the time up to the second
}

// Append appends a moment as RFC 3339 in UTC, with microseconds.
func (c *Clock) Append(line []byte, t limit.Time) []byte {
	fraction := t % limit.Second
	if fraction < 0 {
		fraction += limit.Second
	}
	if second := t - fraction; second != c.second || c.text == nil {
		c.second = second
		c.text = time.UnixMicro(int64(second)).UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05.")
	}
	line = append(line, c.text...)
	line = appendMicros(line, fraction)
	return append(line, 'Z')
}

// appendMicros writes a number below a million with six digits.
func appendMicros(line []byte, n limit.Time) []byte {
	for unit := limit.Time(100_000); unit > 0; unit /= 10 {
		line = append(line, byte('0'+n/unit%10))
	}
	return line
}

// AppendSeconds appends a length of time in seconds, with as many digits as it needs; null for never.
func AppendSeconds(line []byte, t limit.Time) []byte {
	if t == limit.Never {
		return append(line, "null"...)
	}
	line = strconv.AppendInt(line, int64(t/limit.Second), 10)
	if t %= limit.Second; t == 0 {
		return line
	}
	line = appendMicros(append(line, '.'), t)
	for line[len(line)-1] == '0' {
		line = line[:len(line)-1]
	}
	return line
}

// AppendText appends a text from a log as a JSON string, harmless for a terminal.
func AppendText(line []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f {
			quoted, _ := json.Marshal(text) // a string always can be
			return append(line, escape.JSON(quoted)...)
		}
	}
	line = append(line, '"')
	line = append(line, text...)
	return append(line, '"')
}
