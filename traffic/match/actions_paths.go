package match

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"

	"shadow/traffic"
	"shadow/traffic/intern"
)

// An action may stand for many paths, and a limit by action counts them as one, where a server that counts by path keeps them
// apart. So that a report can say how many there are, Actions can note the paths of each action.
//
// A path is noted as 64 bits of its hash, with the id of its action behind them: 12 bytes, which lie in their entry of a Dict. The
// hash is keyed with a secret, so nobody can write paths that share one.

// mostPathsNoted is how many paths are noted, in all. They take 4 MB.
const mostPathsNoted = 100_000

const notedPath = 8 + 4 // bytes

// NotePaths has the actions note paths. It must be called before there is a Matcher.
func (a *Actions) NotePaths() { a.noted = intern.NewBounded(mostPathsNoted) }

// Noted are the paths that were noted, each with its action, for those who keep them; nil: none are wanted.
func (a *Actions) Noted() *intern.Dict { return a.noted }

// RestoreNoted takes in the paths of Noted. It fails, and takes none, if they cannot be those of so many actions.
func (a *Actions) RestoreNoted(paths traffic.PackedNames, actions int) error {
	fit := a.noted != nil && paths.Len() <= mostPathsNoted+1
	paths.Each(func(id int32, path []byte) bool {
		is := len(path) == notedPath && int64(binary.LittleEndian.Uint32(path[8:])) < int64(actions)
		fit = fit && (is || id == mostPathsNoted) // the last one stands for all further ones
		return fit
	})
	if !fit {
		return errors.New("paths of other actions")
	}
	paths.Each(func(_ int32, path []byte) bool { a.noted.ID(path); return true })
	return nil
}

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
