package store

import (
	"errors"
	"fmt"
	"regexp"

	"shadow/limit"
)

// A replay may be gone on with another night. Where it stands is kept beside its run and lands with it, in one
// transaction: there is never a run without its state, nor a state that tells of a run that is not there.
//
// What limits remember can be larger than what DuckDB may hold in memory, so it is cut into pieces, a row each, short enough
// for a row group of them (122,880 rows, which DuckDB writes when it is full) to be small. Of each name only the latest state is kept.

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
var stateName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckStateName tells what is wrong with the name of a state.
func CheckStateName(name string) error {
	if !stateName.MatchString(name) {
		return errors.New("want up to 64 letters, digits, points, dashes and underscores, and a letter or digit first")
	}
	return nil
}

const (
	pieceBytes   = 256     // of all pieces but the last
	piecesAtOnce = 1 << 16 // that are read at once
)

// State is the latest state of a name, nil if there is none.
func (r *Run) State(name string) (*State, error) {
	if err := CheckStateName(name); err != nil {
		return nil, err
	}
	var s *State
	where := " WHERE name = '" + name + "'"
	err := r.store.duck.scan("SELECT run, written, options, logs FROM states"+where, func(b *block) error {
		s = &State{Name: name, Run: values[int32](b, 0)[0], Written: values[limit.Time](b, 1)[0], Options: b.text(2, 0), Logs: b.text(3, 0)}
		return nil
	})
	if err == nil && s != nil {
		s.Body, err = r.readPieces(where)
	}
	if err != nil {
		return nil, r.store.wrap(fmt.Errorf("the state %s cannot be read: %w", name, err))
	}
	return s, nil
}

// readPieces reads the pieces of a state.
func (r *Run) readPieces(where string) (body []byte, err error) {
	for from := 0; err == nil; from += piecesAtOnce {
		before := len(body)
		question := fmt.Sprintf("SELECT bytes FROM state_pieces%s AND piece >= %d AND piece < %d ORDER BY piece", where, from, from+piecesAtOnce)
		err = r.store.duck.scan(question, func(b *block) error {
			for row := range b.rows {
				body = append(body, b.bytes(0, row)...)
			}
			return nil
		})
		if len(body) == before {
			break
		}
	}
	return body, err
}

// Leave makes s the state of its name, in place of the one before, once the run is stored. It must be called before Finish.
func (r *Run) Leave(s *State) { r.state = s }

// writeState replaces the state.
func (r *Run) writeState() error {
	if r.state == nil {
		return nil
	}
	s := r.state
	if err := CheckStateName(s.Name); err != nil {
		return fmt.Errorf("state %q: %w", s.Name, err)
	}
	for _, table := range []string{"states", "state_pieces"} {
		if err := r.store.duck.exec("DELETE FROM " + table + " WHERE name = '" + s.Name + "'"); err != nil {
			return err
		}
	}
	states := r.store.duck.table("states")
	states.add(r.id, s.Name, s.Written, s.Options, s.Logs)
	if err := states.done(); err != nil {
		return err
	}
	pieces := r.store.duck.table("state_pieces")
	for piece, rest := int32(0), s.Body; len(rest) > 0; piece++ {
		n := min(len(rest), pieceBytes)
		pieces.add(r.id, s.Name, piece, rest[:n])
		rest = rest[n:]
	}
	return pieces.done()
}
