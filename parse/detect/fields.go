package detect

import (
	"net/netip"
	"strings"
)

// A line, or the text of a format, taken apart into the fields that a person sees: words, "quoted text", [text in
// brackets]. A list with ", " or " : " in it is one field.

// fieldsOf appends the fields of a line to others. It may take the square of the line's length: see maxTailLine.
func fieldsOf(fields []string, line string) []string {
	for at := 0; at < len(line); {
		if line[at] == ' ' {
			at++
			continue
		}
		end := fieldEnd(line, at)
		for goesOn(line, at, end) {
			end = fieldEnd(line, end+1)
		}
		fields = append(fields, line[at:end])
		at = end
	}
	return fields
}

// fieldEnd returns where the field that begins at at ends: at its closing quote or bracket, if a space or more follows, or at
// a space.
func fieldEnd(line string, at int) int {
	if first := line[min(at, len(line)-1)]; first == '"' || first == '[' {
		closing := first
		if first == '[' {
			closing = ']'
		}
		for i := at + 1; i < len(line); i++ {
			if line[i] == '\\' && closing == '"' {
				i++
				continue
			}
			if line[i] == closing && (i+1 == len(line) || line[i+1] == ' ' || line[i:i+2] == "][") {
				return i + 1
			}
		}
	}
	if space := strings.IndexByte(line[at:], ' '); space >= 0 {
		return at + space
	}
	return len(line)
}

// goesOn reports whether a word is part of a list that goes on behind the space at end.
func goesOn(line string, at, end int) bool {
	if end+1 >= len(line) || line[at] == '"' || line[at] == '[' {
		return false
	}
	return line[end-1] == ',' || strings.HasSuffix(line[at:end], " :") || strings.HasPrefix(line[end:], " : ")
}

// shapeOf takes quotes or brackets off a field, and says which there were.
func shapeOf(field string) (shape, value string) {
	if len(field) >= 2 {
		switch first, last := field[0], field[len(field)-1]; {
		case first == '"' && last == '"':
			return `"%s"`, field[1 : len(field)-1]
		case first == '[' && last == ']':
			return "[%s]", field[1 : len(field)-1]
		}
	}
	return "%s", field
}

// isAddressList reports whether a text is nothing but addresses, as X-Forwarded-For has them: "unknown" and ports are
// allowed, but there must be an address.
func isAddressList(text string) bool {
	addresses := 0
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if _, err := netip.ParseAddr(part); err == nil {
			addresses++
		} else if _, err := netip.ParseAddrPort(part); err == nil {
			addresses++
		} else if part != "unknown" && part != "-" {
			return false
		}
	}
	return addresses > 0
}

// isMillis reports whether a text is a number with exactly three decimals, as nginx writes seconds.
func isMillis(text string) bool {
	whole, decimals, ok := strings.Cut(text, ".")
	return ok && len(decimals) == 3 && isDigits(whole) && isDigits(decimals)
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
