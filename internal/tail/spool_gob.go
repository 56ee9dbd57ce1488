//go:build !nostore

package tail

import (
	"bytes"
	"encoding/gob"

	"shadow/replay"
)

// encode returns a batch as a gob.
func encode(a *replay.Addition) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(a)
	return b.Bytes(), err
}

// decode reads what encode returns.
func decode(text []byte) (*replay.Addition, error) {
	a := new(replay.Addition)
	return a, gob.NewDecoder(bytes.NewReader(text)).Decode(a)
}
