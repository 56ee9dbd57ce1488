package logfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/gzip"

	"shadow/internal/testneeds"
)

// How much do the blocks cost? Beside each way of reading stands the least that it could take: the read calls alone,
// or the library's decompression alone.

// logLike returns content that compresses about as a log does, some eight times.
func logLike(t testing.TB, size int) []byte {
	random := testneeds.Rand(t, 1, 2)
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, "192.0.%d.%d - - [10/Oct/2025:%02d:55:36 +0000] \"GET /product/%d HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%[6]d.0\"\n",
			random.IntN(8), random.IntN(256), random.IntN(24), random.IntN(2000), random.IntN(100_000), 80+random.IntN(60))
	}
	return b.Bytes()
}

func BenchmarkInput(b *testing.B) {
	lines := logLike(b, 64<<20)
	plain, compressed := writeFile(b, "access.log", lines), writeFile(b, "access.log.gz", gzipped(b, lines))
	measure := func(name string, read func() int) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(lines)))
			for b.Loop() {
				if n := read(); n != len(lines) {
					b.Fatalf("read %d bytes of %d", n, len(lines))
				}
			}
		})
	}
	var block Block
	next := func(name string) func() int {
		return func() (n int) {
			in := openInput(b, name, nil)
			for in.Next(&block) == nil {
				n += len(block.Data)
			}
			return n
		}
	}
	buffer := make([]byte, blockSize)
	measure("plain/raw", func() (n int) {
		f, err := os.Open(plain)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for {
			k, err := f.Read(buffer)
			if n += k; err != nil {
				return n
			}
		}
	})
	measure("plain/next", next(plain))
	measure("gzip/raw", func() int {
		f, err := os.Open(compressed)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		r, err := gzip.NewReader(f)
		if err != nil {
			b.Fatal(err)
		}
		n, _ := io.Copy(io.Discard, r)
		return int(n)
	})
	measure("gzip/next", next(compressed))
}
