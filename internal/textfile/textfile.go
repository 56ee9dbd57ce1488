// Package textfile reads files that people name beside the logs: a name comes in, and a text of bounded size goes out, so
// that a device or a log that was named by mistake ends in an error, not in the machine's memory.
package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Most is the most bytes that a file may have which is no configuration of shadow's own.
const Most = 64 << 20

// errNoText is said of a file that begins with zeros only, as a device does and the hole of a log that was cut.
var errNoText = errors.New("begins with zeros, so it is no text")

// Read returns what a file has, at most so many bytes.
func Read(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var room int64
	switch info, err := file.Stat(); {
	case err != nil:
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a directory: name files", name)
	case info.Mode().IsRegular():
		room = info.Size()
	}
	text, err := ReadFrom(file, room, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// ReadFrom returns what r has, at most so many bytes. room is how many are likely.
func ReadFrom(r io.Reader, room, most int64) ([]byte, error) {
	var text bytes.Buffer
	text.Grow(int(min(room, most)) + bytes.MinRead) // rather than piece by piece, which leaves as much behind
	n, err := text.ReadFrom(io.LimitReader(r, min(most+1, looked)))
	if begin := text.Bytes(); len(begin) > 0 && len(bytes.Trim(begin, "\x00")) == 0 {
		return nil, errNoText
	}
	if err == nil && n == looked {
		var more int64
		more, err = text.ReadFrom(io.LimitReader(r, most+1-n))
		n += more
	}
	if err == nil && n > most {
		err = fmt.Errorf("has more than %dMiB, which is no configuration", most>>20)
	}
	return text.Bytes(), err
}

// looked is the number of bytes that tell whether something is a text.
const looked = 4 << 10
