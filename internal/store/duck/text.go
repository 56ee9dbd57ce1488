package duck

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// intervalText writes an interval as DuckDB does: its months, days and microseconds stand for themselves, because
// neither months nor days have a fixed length.
func intervalText(months, days int32, micros int64) string {
	var parts []string
	for _, p := range []struct {
		n    int32
		unit string
	}{{months / 12, "year"}, {months % 12, "month"}, {days, "day"}} {
		switch p.n {
		case 0:
		case 1, -1:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.unit))
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.unit))
		}
	}
	if micros != 0 || len(parts) == 0 {
		parts = append(parts, clockText(micros))
	}
	return strings.Join(parts, " ")
}

// clockText writes microseconds as 26:03:04.000005.
func clockText(micros int64) string {
	sign, n := "", uint64(micros)
	if micros < 0 {
		sign, n = "-", -n
	}
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, n/3_600_000_000, n/60_000_000%60, n/1_000_000%60)
	if n %= 1_000_000; n != 0 {
		text += fmt.Sprintf(".%06d", n)
	}
	return text
}

// blobText writes a BLOB as DuckDB does, with \xHH for bytes that cannot be printed.
func blobText(b string) string {
	var s strings.Builder
	for _, c := range []byte(b) {
		if c < ' ' || c > '~' || c == '\\' || c == '\'' || c == '"' {
			fmt.Fprintf(&s, `\x%02X`, c)
			continue
		}
		s.WriteByte(c)
	}
	return s.String()
}

// bitText writes a BIT. Its first byte says how many bits of the next one are none of its own.
func bitText(b string) string {
	if len(b) < 2 {
		return ""
	}
	var s strings.Builder
	for _, c := range []byte(b[1:]) {
		fmt.Fprintf(&s, "%08b", c)
	}
	return s.String()[b[0]:]
}

// bigNumber reads a BIGNUM: a head of three bytes that begins with a bit for the sign, then the digits, the greatest
// first; all of it complemented when it is negative.
func bigNumber(b string) *big.Int {
	if len(b) < 4 {
		return new(big.Int)
	}
	digits, negative := []byte(b[3:]), b[0]&0x80 == 0
	if negative {
		for i := range digits {
			digits[i] = ^digits[i]
		}
	}
	n := new(big.Int).SetBytes(digits)
	if negative {
		n.Neg(n)
	}
	return n
}

// KeyText writes a value of Rows.Next as a key of an object: text as it is, NULL empty, anything else as JSON.
func KeyText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// Names come from logs and are hostile: a VARCHAR must be valid UTF-8, and a person who selects from the database with
// another tool has a terminal that a control character could play with. So what is not valid UTF-8, and what controls
// terminals or the direction of text, is stored as \xHH, byte by byte. The text stays unambiguous: where a name itself
// holds something that reads like such an escape, its backslash is stored as \x5c.

const hexDigits = "0123456789abcdef"

// EncodeText makes a name fit for a VARCHAR. Nearly all names stay as they are.
func EncodeText(s string) string {
	for i := 0; i < len(s); {
		n := plain(s[i:])
		if n == 0 {
			return escape(s, i)
		}
		i += n
	}
	return s
}

// plain is the length of the character at the beginning of s if it can stay, or 0.
func plain(s string) int {
	if c := s[0]; c < utf8.RuneSelf {
		if c < ' ' || c == 0x7f || c == '\\' && isEscape(s) {
			return 0
		}
		return 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return 0
	}
	return n
}

// isEscape reports whether s begins with \xHH.
func isEscape(s string) bool {
	return len(s) >= 4 && s[0] == '\\' && s[1] == 'x' &&
		strings.IndexByte(hexDigits, s[2]) >= 0 && strings.IndexByte(hexDigits, s[3]) >= 0
}

// escape encodes s, of which the first i bytes can stay.
func escape(s string, i int) string {
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		if n := plain(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		for _, c := range []byte(s[i : i+n]) {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
		i += n
	}
	return b.String()
}

// DecodeText gives back the name that EncodeText has made s of.
func DecodeText(s string) string {
	if !strings.Contains(s, `\x`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if !isEscape(s[i:]) {
			b.WriteByte(s[i])
			continue
		}
		b.WriteByte(byte(strings.IndexByte(hexDigits, s[i+2])<<4 | strings.IndexByte(hexDigits, s[i+3])))
		i += 3
	}
	return b.String()
}
