package parse

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes a file in a fresh directory.
func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func openInput(t testing.TB, name string, stdin io.Reader) *Input {
	t.Helper()
	in, err := OpenInput(name, stdin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// readAll joins all blocks, and checks that they lie where they say.
func readAll(t *testing.T, in *Input) string {
	t.Helper()
	var all []byte
	line := int64(1)
	for b := (Block{}); ; {
		err := in.Next(&b)
		if err == io.EOF {
			return string(all)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Line != line || b.Offset != int64(len(all)) {
			t.Fatalf("block at line %d, offset %d; want %d, %d", b.Line, b.Offset, line, len(all))
		}
		line += int64(bytes.Count(b.Data, newline))
		all = append(all, b.Data...)
	}
}

func manyLines(n int) []byte {
	return []byte(strings.Repeat("192.0.2.1 - - [10/Oct/2025:13:55:36 +0000] \"GET / HTTP/1.1\" 200 2326\n", n))
}

func TestInputReadsPlainAndCompressed(t *testing.T) {
	lines := manyLines(50_000)
	for name, content := range map[string][]byte{
		"plain":       lines,
		"gzip":        gzipped(t, lines),
		"two members": append(gzipped(t, lines[:1_000_000]), gzipped(t, lines[1_000_000:])...),
	} {
		t.Run(name, func(t *testing.T) {
			in := openInput(t, write(t, "access.log", content), nil)
			head, err := in.Peek()
			if err != nil || !bytes.HasPrefix(lines, head) || len(head) < peekSize-100 || head[len(head)-1] != '\n' {
				t.Fatalf("Peek gives %d bytes, %v", len(head), err)
			}
			if readAll(t, in) != string(lines) || in.Problem() != "" {
				t.Errorf("read something else; problem %q", in.Problem())
			}
			if in.Consumed() != in.Size() || in.Size() != int64(len(content)) {
				t.Errorf("consumed %d of %d", in.Consumed(), in.Size())
			}
		})
		t.Run(name+" from stdin", func(t *testing.T) {
			in := openInput(t, "-", bytes.NewReader(content))
			if head, err := in.Peek(); err != nil || !bytes.HasPrefix(lines, head) || len(head) == 0 {
				t.Fatalf("Peek gives %d bytes, %v", len(head), err)
			}
			if readAll(t, in) != string(lines) || in.Problem() != "" {
				t.Errorf("read something else; problem %q", in.Problem())
			}
			if in.Consumed() != int64(len(content)) || in.Size() != -1 {
				t.Errorf("consumed %d of %d", in.Consumed(), in.Size())
			}
		})
	}
}
