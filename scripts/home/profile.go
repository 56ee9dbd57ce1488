package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
)

// profile renames the functions and files of a profile for the compiler, which finds hot loops by them. A profile is a
// message of protocol buffers, zipped, that has its texts in field 6 (proto/profile.proto of github.com/google/pprof).
func profile(text []byte, from, to string) ([]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	fields, err := io.ReadAll(zipped)
	if err != nil {
		return nil, err
	}
	var renamed []byte
	for len(fields) > 0 {
		tag, n := binary.Uvarint(fields)
		value, m := binary.Uvarint(fields[max(n, 0):])
		begin, end := n+m, n+m
		if tag&7 == 2 { // what follows is value bytes
			end += int(value)
		}
		if n <= 0 || m <= 0 || tag&7|2 != 2 || end < begin || end > len(fields) {
			return nil, errors.New("not a profile")
		}
		if rest, ours := bytes.CutPrefix(fields[begin:end], []byte(from+"/")); ours && tag == 6<<3|2 {
			renamed = binary.AppendUvarint(append(renamed, byte(tag)), uint64(len(to)+1+len(rest)))
			renamed = append(append(renamed, to+"/"...), rest...)
		} else {
			renamed = append(renamed, fields[:end]...)
		}
		fields = fields[end:]
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(renamed)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}
