package store

import "fmt"

// ids tell by run what its ids are in the result; −1 stands for none. Other tools can write into the file, so an id that
// leads nowhere is an error.
type ids map[int32][]int32

func (m ids) at(run, id int32) (int32, error) {
	if of := m[run]; id >= 0 && int(id) < len(of) && of[id] >= 0 {
		return of[id], nil
	}
	return 0, fmt.Errorf("run %d speaks of an id, %d, that it does not tell the name of", run, id)
}

// mostIDs is far more than any run has.
const mostIDs = 1 << 28

func (m ids) put(run, id, to int32) error {
	if id < 0 || id > mostIDs {
		return fmt.Errorf("run %d has an impossible id, %d", run, id)
	}
	of := m[run]
	for int(id) >= len(of) {
		of = append(of, -1)
	}
	of[id] = to
	m[run] = of
	return nil
}
