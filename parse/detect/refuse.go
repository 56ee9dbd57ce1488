package detect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"regexp"
	"sync"

	"shadow/internal/lazy"
)

// Some files are no access logs of a web server that we read, and are better refused by name.

// errUTF16 says what to do with a file in an encoding that no server logs in, whatever its format is said to be.
var errUTF16 = errors.New("the file is UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)")

// isUTF16 looks for the byte order mark, with an ASCII character behind it.
func isUTF16(sample []byte) bool {
	return len(sample) >= 4 && (sample[0] == 0xff && sample[1] == 0xfe && sample[3] == 0 ||
		sample[0] == 0xfe && sample[1] == 0xff && sample[2] == 0)
}

// refuse returns the error of what must not even be tried: data that is not text.
func refuse(sample []byte) error {
	if isUTF16(sample) {
		return errUTF16
	}
	for _, magic := range magics {
		if bytes.HasPrefix(sample, []byte(magic.bytes)) {
			return errors.New(magic.says)
		}
	}
	if mostlyBinary(sample) {
		return errors.New("the file is not text: too many control characters")
	}
	return nil
}

// magics are the first bytes of files that are not text. Compressed input is decompressed before detection, so that
// what still looks compressed here was compressed twice, or is of a kind that is not decompressed.
var magics = []struct{ bytes, says string }{
	{"\x1f\x8b", "the log is gzip data within: decompress it once more"},
	{"\x28\xb5\x2f\xfd", "the log is zstd data within: decompress it once more"},
	{"BZh", "the log is bzip2 data within: decompress it once more"},
	{"\xfd7zXZ\x00", "the log is xz data within: decompress it once more"},
	{"PK\x03\x04", "the file is a ZIP archive: unpack it first"},
	{"7z\xbc\xaf\x27\x1c", "the file is a 7z archive: unpack it first"},
	{"\x04\x22\x4d\x18", "the file is lz4 data: decompress it first"},
	{"PAR1", "the log is Parquet within, which is read unpacked, from files and pipes that end"},
	{"SQLite format 3\x00", "the file is a SQLite database, not a log"},
}

// address matches addresses, IPv6 in part.
var address = lazy.Regexp(`\d+\.\d+\.\d+\.\d+|[0-9A-Fa-f]*::[0-9A-Fa-f]|([0-9A-Fa-f]{1,4}:){4}`)

func jsonLike(line []byte) bool { return line[0] == '{' }

// mostlyBinary reports whether more than a tenth of the bytes are control characters. Some are normal: bytes of a
// broken disk block, escape sequences of an attacker.
func mostlyBinary(sample []byte) bool {
	n, rest := 0, sample
	for ; len(rest) >= 8; rest = rest[8:] {
		// A control character has none of the three high bits, so that nothing is carried into the highest.
		const highest = 0x8080808080808080
		high := binary.LittleEndian.Uint64(rest) & 0xe0e0e0e0e0e0e0e0
		n += bits.OnesCount64(^(high&^highest + ^uint64(highest) | high) & highest)
	}
	for _, c := range rest {
		if c < ' ' {
			n++
		}
	}
	if 10*n > len(sample) {
		for _, c := range []byte("\t\n\r") {
			n -= bytes.Count(sample, []byte{c})
		}
	}
	return 10*n > len(sample)
}

// A lookalike is a log of another kind, known by the shape of a line.
type lookalike struct {
	line *regexp.Regexp
	says string
}

var lookalikes = sync.OnceValue(func() []lookalike {
	return []lookalike{
		{
			regexp.MustCompile(`^\{?\s*"took"\s*:\s*\d`),
			"this is one answer of Elasticsearch with many hits: take them apart with jq -c '.hits.hits[]'",
		},
		{
			regexp.MustCompile(`^\{?\s*"status"\s*:\s*"success"`),
			"this is one answer of Loki with many lines: take them apart with jq -r '.data.result[].values[][1]'",
		},
		{
			regexp.MustCompile(`^(tls|tcp) \d\.\d \d{4}-\d\d-\d\dT`),
			"this is a log of an AWS network load balancer (NLB), which has connections and no requests",
		},
		{
			regexp.MustCompile(`^\[negroni\] `),
			"this is a log of negroni, which has the host and no address of a client: add {{.Request.RemoteAddr}} with SetFormat",
		},
		{
			regexp.MustCompile(`^\[?\d\d:\d\d:\d\d\]? `),
			"the times have no date, as those of Fiber's logger: set its TimeFormat to 2006-01-02 15:04:05",
		},
		{
			regexp.MustCompile(`^(Processing by |  (Parameters|Rendered|Rendering)|Completed \d{3} |Redirected to )`),
			"this is a log of Rails with several lines for each request: keep those with Started (grep 'Started ' LOG) and state the --format that is then proposed",
		},
		{
			regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[[a-z]+\] \d+#\d+: `),
			"this is an nginx error log; the requests stand in the access log",
		},
		{
			regexp.MustCompile(`^\[[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d(\.\d+)? \d{4}\] \[[\w:]*\] `),
			"this is an Apache error log; the requests stand in the access log",
		},
		{
			regexp.MustCompile(`\S+:\d+ \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\.\d{3}\] \S+ ?\S*:? `),
			"this is a log of HAProxy with few requests of its default format (option httplog): --format haproxy reads those, behind a header of syslog or not",
		},
		{
			regexp.MustCompile(`^(https?|h2|grpcs|wss?) \d{4}-\d\d-\d\dT[\d:.]+Z (app|net)/`),
			"this is a log of an AWS application load balancer (ALB), not of a web server: --format alb reads its requests",
		},
		{
			regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+Z \S+ [\da-f.:]+:\d+ ([\da-f.:]+:\d+|-) `),
			"this is a log of an AWS classic load balancer (ELB), not of a web server: --format elb reads its requests",
		},
	}
})
