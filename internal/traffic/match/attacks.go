package match

import (
	"bytes"
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/parse/lex"
)

// IsAttack reports whether a target holds what no page asks for: code that a server or a browser might run, a way out of the
// folder, or the name that a scanner gives itself there. Most targets have no sign that any of these needs.
func IsAttack(target []byte) bool {
	if len(target) > mostOfTarget {
		target = target[:mostOfTarget]
	}
	if !bytes.ContainsAny(target, "%<(") && !bytes.Contains(target, wayOut) {
		return false
	}
	var buf [mostOfTarget]byte
	text := intern.LowerASCII(buf[:0], target)
	for range 2 { // what is written twice as %25.. may be read twice
		if text = unescaped(text); !bytes.ContainsRune(text, '%') {
			break
		}
	}
	return slices.ContainsFunc(attacks, func(part []byte) bool { return bytes.Contains(text, part) })
}

const mostOfTarget = 512 // bytes that are looked at

var wayOut = []byte("../../../")

// attacks are parts of targets in lower case, decoded. A page whose own links are broken has none of them.
var attacks = [][]byte{
	wayOut, []byte(`..\..\`), []byte("/etc/passwd"), []byte("/win.ini"), []byte("<script"), []byte("<iframe"), []byte("onerror="), []byte("onload="),
	[]byte("alert("), []byte("union select"), []byte("union all select"), []byte("waitfor delay"), []byte("sleep("), []byte("benchmark("),
	[]byte("extractvalue("), []byte("gethostbyname("), []byte("createobject("), []byte("base64_decode("), []byte("${jndi:"), []byte("${${"),
	[]byte("php://"), []byte("netsparker"), []byte("acunetix"),
}

// unescaped decodes a text in place: %2e is a point, and + is a space.
func unescaped(text []byte) []byte {
	n := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '+' {
			c = ' '
		} else if v, known := lex.Hex(text, i+1, i+3); c == '%' && known {
			c, i = lowerByte(byte(v)), i+2
		}
		text[n] = c
		n++
	}
	return text[:n]
}
