package logfile

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// compressors are all ways in which a log may be stored.
var compressors = map[string]func(t tb, content []byte) []byte{
	"":      func(_ tb, content []byte) []byte { return content },
	"gzip":  gzipped,
	"zstd":  zstded,
	"bzip2": func(t tb, content []byte) []byte { return command(t, content, "bzip2", "-c") },
	"xz":    func(t tb, content []byte) []byte { return command(t, content, "xz", "-c", "-0") },
}

// tb has the methods that testing.T, testing.B and rapid.T share.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Skip(...any)
}

func gzipped(t tb, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t tb, content []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(content, nil)
}

// command filters content through a program; Go has no writers of its own for bzip2 and xz.
func command(t tb, content []byte, name string, args ...string) []byte {
	t.Helper()
	testneeds.Program(t, name)
	c := exec.Command(name, args...)
	c.Stdin = bytes.NewReader(content)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func TestCompressionIsToldByContent(t *testing.T) {
	lines := manyLines(100)
	for compression, compress := range compressors {
		for _, name := range []string{"access.log", "access.log.gz", "access.log.zst", "access.log.bz2", "access.log.xz"} {
			in := openInput(t, writeFile(t, name, compress(t, lines)), nil)
			if in.Compression() != compression {
				t.Errorf("%s with %q inside: Compression() = %q", name, compression, in.Compression())
			}
			if readAll(t, in) != string(lines) || in.Problem() != "" {
				t.Errorf("%s with %q inside: read something else; problem %q", name, compression, in.Problem())
			}
		}
	}
}

func TestConcatenatedMembersAreOneContent(t *testing.T) {
	lines := logLike(t, 600_000)
	seam := len(lines)/2 + 7 // in the middle of a line
	for compression, compress := range compressors {
		joined := append(compress(t, lines[:seam]), compress(t, lines[seam:])...)
		in := openInput(t, writeFile(t, "access.log", joined), nil)
		if readAll(t, in) != string(lines) || in.Problem() != "" {
			t.Errorf("%s: read something else; problem %q", compression, in.Problem())
		}
	}
}

func TestNothingCompressedIsNothing(t *testing.T) {
	for compression, compress := range compressors {
		in := openInput(t, writeFile(t, "access.log", compress(t, nil)), nil)
		if in.Compression() != compression && compression != "" {
			t.Errorf("%s: Compression() = %q", compression, in.Compression())
		}
		if got := readAll(t, in); got != "" || in.Problem() != "" {
			t.Errorf("%s: read %q; problem %q", compression, got, in.Problem())
		}
	}
}

// Cut a compressed file anywhere: what comes out is a beginning of the content, and the report says that it is one.
func TestTruncatedContentIsDeliveredAndNamed(t *testing.T) {
	lines := logLike(t, 300_000)
	for compression, compress := range compressors {
		if compression == "" {
			continue
		}
		whole := compress(t, lines)
		for _, n := range []int{11, 20, 40, len(whole) / 3, len(whole) / 2, len(whole) - 9, len(whole) - 1} {
			in := openInput(t, writeFile(t, "access.log", whole[:n]), nil)
			head, err := in.Peek()
			if err != nil || len(head) == 0 && in.Problem() == "" {
				t.Errorf("%s, %d of %d bytes: Peek gives %d bytes, %v; problem %q", compression, n, len(whole), len(head), err, in.Problem())
			}
			got := readAll(t, in)
			if !strings.HasPrefix(string(lines), got) {
				t.Errorf("%s, %d of %d bytes: read something else", compression, n, len(whole))
			}
			if want := "truncated " + compression; !strings.HasPrefix(in.Problem(), want) {
				t.Errorf("%s, %d of %d bytes: problem %q, want %q", compression, n, len(whole), in.Problem(), want)
			}
			if compression == "gzip" && n == len(whole)-9 && len(got) < len(lines)*9/10 {
				t.Errorf("gzip without its last bytes gives only %d bytes of %d", len(got), len(lines))
			}
		}
	}
}

// A gzip that ends in the file name of its header.
func TestTruncatedHeaderIsNamed(t *testing.T) {
	const stored = "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03acc"
	for way, in := range map[string]*Input{
		"file":  openInput(t, writeFile(t, "access.log", []byte(stored)), nil),
		"stdin": openInput(t, "-", strings.NewReader(stored)),
	} {
		if got := readAll(t, in); got != "" || in.Compression() != "gzip" || !strings.HasPrefix(in.Problem(), "truncated gzip") {
			t.Errorf("%s: read %q; %q; problem %q", way, got, in.Compression(), in.Problem())
		}
	}
}

func TestDamagedContentIsDeliveredAndNamed(t *testing.T) {
	lines := logLike(t, 3_000_000)
	for compression, compress := range compressors {
		if compression == "" {
			continue
		}
		damaged := compress(t, lines)
		for i := range 64 {
			damaged[len(damaged)*3/4+i] ^= 0xa5
		}
		in := openInput(t, writeFile(t, "access.log", damaged), nil)
		got := readAll(t, in)
		if len(got) < len(lines)/4 || got[:len(lines)/4] != string(lines[:len(lines)/4]) {
			t.Errorf("%s: %d bytes of %d came before the damage", compression, len(got), len(lines))
		}
		if !strings.HasPrefix(in.Problem(), "damaged "+compression) && !strings.HasPrefix(in.Problem(), "truncated "+compression) {
			t.Errorf("%s: problem %q", compression, in.Problem())
		}
	}
}

// Headers that ask for a window of 2 GiB (zstd, RFC 8878, 3.1.1.1.2) and a dictionary of 1.5 GiB (xz): the memory of who
// reads is not for the file to decide on, and what is refused is not called damaged.
func TestHugeWindowsAreRefused(t *testing.T) {
	for content, want := range map[string]string{
		"\x28\xb5\x2f\xfd\x04\xa8\x09\x00\x00x\x00\x00\x00\x00":                                             "zstd that takes too much memory to decompress; try: zstd -dc --long=31 … | shadow replay -",
		"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x25\x00\x00\x00\x3b\x78\x7b\x41\x01\x00\x00x": "xz that takes too much memory to decompress; try: xz -dc … | shadow replay -",
	} {
		in := openInput(t, writeFile(t, "access.log", []byte(content)), nil)
		if got := readAll(t, in); got != "" || in.Problem() != want {
			t.Errorf("read %q; problem %q, want %q", got, in.Problem(), want)
		}
	}
}

// Behind the end of gzip data: what gzip -dc passes over in silence, and what it warns of. Everything in front is read.
func TestGarbageBehindGzipIsNamed(t *testing.T) {
	lines := manyLines(10)
	zeros := strings.Repeat("\x00", 10_240)
	for behind, want := range map[string]string{
		"":                                   "",
		"\x00":                               "",
		zeros:                                "",
		"x":                                  "1 byte behind the end of the gzip data is no gzip and was not read",
		"garbage":                            "7 bytes behind the end of the gzip data are no gzip and were not read",
		"more garbage than a header is long": "34 bytes behind the end of the gzip data are no gzip and were not read",
		zeros + "garbage":                    "10247 bytes behind the end of the gzip data are no gzip and were not read",
		"\x1f":                               "1 byte behind the end of the gzip data is no gzip and was not read",
		"\x1f\x8b":                           "truncated gzip: the file ends before its compressed data does",
		"\x1f\x8bgarbage garbage":            "damaged gzip, not read to its end: gzip: invalid header",
	} {
		stored := string(gzipped(t, lines)) + behind
		for way, in := range map[string]*Input{
			"file":  openInput(t, writeFile(t, "access.log", []byte(stored)), nil),
			"stdin": openInput(t, "-", strings.NewReader(stored)),
		} {
			if head, err := in.Peek(); err != nil || string(head) != string(lines) {
				t.Errorf("%.20q, %s: Peek gives %d bytes, %v", behind, way, len(head), err)
			}
			if got := readAll(t, in); got != string(lines) || in.Problem() != want {
				t.Errorf("%.20q, %s: read %d bytes of %d; problem %q, want %q", behind, way, len(got), len(lines), in.Problem(), want)
			}
			if in.Consumed() != int64(len(stored)) {
				t.Errorf("%.20q, %s: consumed %d of %d", behind, way, in.Consumed(), len(stored))
			}
		}
	}
}

// Members go on behind zeros, and empty ones are nothing.
func TestMembersBehindZerosAreRead(t *testing.T) {
	lines := manyLines(10)
	member, none := string(gzipped(t, lines)), string(gzipped(t, nil))
	in := openInput(t, writeFile(t, "access.log", []byte(none+member+"\x00\x00"+none+none+member+"\x00")), nil)
	if got := readAll(t, in); got != string(lines)+string(lines) || in.Problem() != "" {
		t.Errorf("read %d bytes of %d; problem %q", len(got), 2*len(lines), in.Problem())
	}
}

func TestUnsupportedArchivesSayWhatToDo(t *testing.T) {
	zip := []byte("PK\x03\x04 and so on")
	path := writeFile(t, "access.log", zip)
	_, err := OpenInput(path, nil)
	if want := "logfile: " + path + ": is a zip file, which is not supported; try: unzip -p " + path + " | shadow replay -"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	in := openInput(t, "-", bytes.NewReader(zip))
	if got := readAll(t, in); got != "" || !strings.HasPrefix(in.Problem(), "is a zip file") {
		t.Errorf("piped in: read %q; problem %q", got, in.Problem())
	}
}

// Whatever the content, the compression and the size of a block: the same lines come out.
func TestBlocksGiveBackTheLines(t *testing.T) {
	for compression, compress := range compressors {
		t.Run("compression "+compression, func(t *testing.T) {
			testneeds.Rapid(t, func(t *rapid.T) {
				max := rapid.IntRange(1, 200).Draw(t, "max")
				size := rapid.IntRange(1, max+1).Draw(t, "size")
				content := drawContent(t, max)
				src, err := openContent(bytes.NewReader(compress(t, content)), func() {})
				if err != nil {
					t.Fatal(err)
				}
				defer src.close()
				cut := newCutter(src, 0)
				cut.size, cut.max = size, max
				compareLines(t, cut, content)
			})
		})
	}
}
