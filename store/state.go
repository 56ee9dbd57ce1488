package store

import (
	"errors"
	"fmt"
	"slices"

	"shadow/lazy"
	"shadow/limit"
	"shadow/store/duck"
)

// A replay may be gone on with another night. Where it stands is kept beside its run and lands with it, in one
// transaction: there is never a run without its state, nor a state that tells of a run that is not there.
//
// What limits remember can be larger than what DuckDB may hold in memory, so it is cut into pieces, a row each, short
// enough for a row group of them (122,880 rows, which DuckDB writes when it is full) to be small. Of each name only
// the latest state is kept.

// A State is where a replay stands that is to be gone on with.
type State struct {
	Name    string
	Run     int32      // that has left it
	Written limit.Time // by the clock
	Options string     // JSON: those that must be the same to go on
	Logs    string     // JSON: how far each file has been read
	Body    []byte     // what limits remember, and the requests that were held back
}

// stateName is what the names of states look like: they stand in questions to the database.
var stateName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckStateName returns what is wrong with the name of a state.
func CheckStateName(name string) error {
	if !stateName().MatchString(name) {
		return errors.New("want up to 64 letters, digits, points, dashes and underscores, and a letter or digit first")
	}
	return nil
}

const (
	pieceBytes   = 256     // of all pieces but the last
	piecesAtOnce = 1 << 16 // that are read at once
)

// LastState is the latest state of a name, nil if there is none.
func (r *Run) LastState(name string) (*State, error) {
	if err := CheckStateName(name); err != nil {
		return nil, err
	}
	d, where := r.store.duck, " WHERE name = '"+name+"'"
	found, err := duck.List[State](d, "SELECT name, run, written, options, logs, NULL::BLOB FROM states"+where)
	if err == nil && len(found) == 0 {
		return nil, nil
	}
	var s *State
	for from, more := 0, true; err == nil && more; from += piecesAtOnce {
		s, more = &found[0], false
		question := fmt.Sprintf("SELECT bytes FROM state_pieces%s AND piece >= %d AND piece < %d ORDER BY piece", where, from, from+piecesAtOnce)
		err = duck.Each(d, question, func(piece *[]byte) error {
			s.Body, more = append(s.Body, *piece...), true
			return nil
		})
	}
	if err != nil {
		return nil, r.store.wrap(fmt.Errorf("the state %s cannot be read: %w", name, err))
	}
	return s, nil
}

// writeState replaces the state.
func (r *Run) writeState() error {
	s := r.State
	if s == nil {
		return nil
	}
	if err := CheckStateName(s.Name); err != nil {
		return fmt.Errorf("state %q: %w", s.Name, err)
	}
	for _, table := range []string{"states", "state_pieces"} {
		if err := r.store.duck.Exec("DELETE FROM " + table + " WHERE name = '" + s.Name + "'"); err != nil {
			return err
		}
	}
	w := r.store.duck.Writer(r.id, s.Name)
	w.Add("states", s.Written, s.Options, s.Logs)
	piece := int32(0)
	for bytes := range slices.Chunk(s.Body, pieceBytes) {
		w.Add("state_pieces", piece, bytes)
		piece++
	}
	return w.Done()
}
