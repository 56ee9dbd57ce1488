package samplelogs

import (
	"fmt"
	"strings"
)

// broken is a log with everything that goes wrong in one: each bad line stands between two sound ones, so that a
// report shows that reading went on. The text before the line, up to the tab, says what is wrong with it; it is not
// written.
func broken() []byte {
	var log strings.Builder
	for i, bad := range badLines() {
		log.WriteString(sound(i))
		_, line, _ := strings.Cut(bad, "\t")
		log.WriteString(line)
		log.WriteByte('\n')
	}
	log.WriteString(sound(len(badLines())))
	end := sound(len(badLines()) + 1)
	log.WriteString(end[:len(end)*2/3]) // the file ends in the middle of a line
	return []byte(log.String())
}

// sound is a line that can be read, a minute after the one before.
func sound(i int) string {
	return fmt.Sprintf("192.0.2.%d - - [07/Mar/2026:09:%02d:00 +0000] \"GET /product/oak-lamp-%d HTTP/1.1\" 200 %d \"-\" \"%s\"\n",
		10+i%5, i, 1000+i, 12000+i, agents()[i].text)
}

func badLines() []string {
	const (
		from = "198.51.100.9 - - "
		when = "[07/Mar/2026:09:30:00 +0000] "
		rest = ` 200 512 "-" "curl/8.5.0"`
	)
	get := func(path string) string { return `"GET ` + path + ` HTTP/1.1"` }
	return []string{
		"an empty line\t",
		"blanks only\t   ",
		"a line of the error log\t2026/03/07 09:02:10 [error] 811#811: *74 limiting requests, excess: 5.320 by zone \"one\", client: 198.51.100.9, server: shop.example, request: \"GET /list/oak HTTP/1.1\", host: \"shop.example\"",
		"binary rubbish\t\x8f\x03\xfe\x00\x11\x7f\xc3\x28\xa0\xa1\x00\x00\xf0\x28\x8c\xbc",
		"a NUL byte in the path\t" + from + when + get("/list/\x00oak") + rest,
		"NUL bytes before the line, as a crash leaves them\t\x00\x00\x00\x00\x00\x00\x00\x00" + from + when + get("/") + rest,
		"invalid UTF-8 in the path\t" + from + when + get("/search?q=caf\xe9") + rest,
		"CRLF at its end\t" + from + when + get("/list/oak") + rest + "\r",
		"a long line\t" + from + when + get("/search?q="+strings.Repeat("aa", 10_000)) + rest,
		"no closing quote\t" + from + when + `"GET /basket HTTP/1.1 200 512 "-" "curl/8.5.0`,
		"no closing bracket\t" + from + "[07/Mar/2026:09:30:00 +0000 " + get("/") + rest,
		"a month that does not exist\t" + from + "[07/Mai/2026:09:30:00 +0000] " + get("/") + rest,
		"a day that does not exist\t" + from + "[30/Feb/2026:09:30:00 +0000] " + get("/") + rest,
		"an hour that does not exist\t" + from + "[07/Mar/2026:24:30:00 +0000] " + get("/") + rest,
		"no zone\t" + from + "[07/Mar/2026:09:30:00] " + get("/") + rest,
		"a status that is no number\t" + from + when + get("/") + ` OK 512 "-" "curl/8.5.0"`,
		"a number too large for 64 bits\t" + from + when + get("/") + ` 200 99999999999999999999 "-" "curl/8.5.0"`,
		"cut off after the address\t198.51.100.9",
		"two lines run together\t" + from + when + `"GET /product/as` + from + when + get("/") + rest,
		"an empty request (408)\t" + from + when + `"-" 408 0 "-" "-"`,
		"an empty request line (400)\t" + from + when + `"" 400 0 "-" "-"`,
		"a TLS handshake on the plain port\t" + from + when + `"\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03" 400 157 "-" "-"`,
		"a quote in the agent, escaped by nginx\t" + from + when + get("/") + ` 200 512 "-" "\x22quoted\x22 agent"`,
		"a quote in the agent, escaped by Apache\t" + from + when + get("/") + ` 200 512 "-" "\"quoted\" agent"`,
		"terminal control characters in the agent\t" + from + when + get("/") + " 200 512 \"-\" \"\x1b[31mred\x1b[0m\x07\"",
		"a formula and a bar in the agent\t" + from + when + get("/") + ` 200 512 "-" "=HYPERLINK(1)|second column"`,
		"a host name as client\tcrawl-7.search.example - - " + when + get("/robots.txt") + rest,
		"IPv6 with an embedded IPv4\t::ffff:192.0.2.77 - - " + when + get("/") + rest,
		"an address that is none\t999.1.2.3 - - " + when + get("/") + rest,
		"a user with a blank\t198.51.100.9 - jane doe " + when + get("/account") + rest,
		"a day back\t" + from + "[06/Mar/2026:09:30:00 +0000] " + get("/") + rest,
		"a day ahead\t" + from + "[08/Mar/2026:09:30:00 +0000] " + get("/") + rest,
		"years ahead\t" + from + "[07/Mar/2036:09:30:00 +0000] " + get("/") + rest,
		"before 1970\t" + from + "[07/Mar/1969:09:30:00 +0000] " + get("/") + rest,
	}
}
