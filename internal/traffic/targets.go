package traffic

import "sync"

// targets names the pages that a report tells by what was asked for: a clue has but a hash of them.
type targets struct {
	mu    sync.Mutex
	paths map[uint16]int32 // by Clue.Page: ids of Tables.Paths
}

// AddTarget remembers which path the page of a clue has.
func (t *Tables) AddTarget(page uint16, path []byte) {
	t.targets.mu.Lock()
	defer t.targets.mu.Unlock()
	if _, known := t.targets.paths[page]; !known {
		t.targets.paths[page] = t.Paths.ID(path)
	}
}

// Target returns the path of a page, by its id; of one that was not remembered the name of its action.
func (t *Tables) Target(page uint16, action int32) int32 {
	t.targets.mu.Lock()
	defer t.targets.mu.Unlock()
	if id, known := t.targets.paths[page]; known {
		return id
	}
	return t.Paths.ID(t.Actions.Bytes(action))
}
