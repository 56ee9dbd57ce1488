package match

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"shadow/internal/traffic/intern"
)

// An action may stand for many paths, and a limit by action counts them as one, where a server that counts by path keeps them
// apart. So that a report can say how many there are, Actions can note the paths of each action.
//
// A path is noted as 64 bits of its hash, with the id of its action behind them: 12 bytes, which lie in their entry of
// a Dict. The hash is keyed with a secret, so no client can write paths that share one.

// mostPathsNoted is the most paths that are noted, in all. They take 4 MB.
const mostPathsNoted = 100_000

const notedPath = 8 + 4 // bytes

// NotePaths has the actions note paths. It must be called before there is a Matcher.
func (a *Actions) NotePaths() { a.noted = intern.NewBounded(mostPathsNoted) }

// note notes a path of an action.
func (a *Actions) note(path []byte, id int32) {
	if a.noted == nil || a.noted.Len() > mostPathsNoted {
		return
	}
	var name [notedPath]byte
	binary.LittleEndian.PutUint64(name[:], maphash.Bytes(pathSeed, path))
	binary.LittleEndian.PutUint32(name[8:], uint32(id))
	a.noted.ID(name[:])
}

// A Folded is an action that stands for several paths.
type Folded struct {
	Action string
	Paths  int
}

// Folded returns the actions that stand for several paths, those for the most paths first, and reports whether there were more
// paths than can be noted. Without NotePaths there are none.
func (a *Actions) Folded() (folded []Folded, more bool) {
	if a.noted == nil {
		return nil, false
	}
	paths := map[int32]int{}
	for id := range int32(min(a.noted.Len(), mostPathsNoted)) {
		paths[int32(binary.LittleEndian.Uint32([]byte(a.noted.Name(id)[8:])))]++
	}
	for id, n := range paths {
		if n > 1 {
			folded = append(folded, Folded{Action: a.dict.Name(id), Paths: n})
		}
	}
	slices.SortFunc(folded, func(x, y Folded) int {
		return cmp.Or(cmp.Compare(y.Paths, x.Paths), cmp.Compare(x.Action, y.Action))
	})
	return folded, a.noted.Len() > mostPathsNoted
}
