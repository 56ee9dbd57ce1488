package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"shadow/internal/lazy"
	"shadow/limit"
)

// A replay may be gone on with another night. Where it stands lies beside its run and lands with it, in one step: there
// is never a run without its state, nor a state that tells of a run that is not there. A run that is deleted leaves its
// state behind, so that the next night does not read again what others have counted.
//
//	run=7/state.NAME   a line of JSON, and what limits remember
//	run=8/tail.NAME    the last batch of a tail, where the run that it went into was deleted

// A State is where a replay stands that is to be gone on with.
type State struct {
	Name    string     `json:"name"`
	Run     int32      `json:"-"`          // that has left it
	Written limit.Time `json:"written_us"` // by the clock
	Options string     `json:"options"`    // JSON: those that must be the same to go on
	Logs    string     `json:"logs"`       // JSON: how far each file has been read
	Body    []byte     `json:"-"`          // what limits remember, and the requests that were held back
}

// stateName matches names of states: they stand in names of files.
var stateName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckStateName returns what is wrong with the name of a state.
func CheckStateName(name string) error {
	if !stateName().MatchString(name) {
		return errors.New("want up to 64 letters, digits, points, dashes and underscores, and a letter or digit first")
	}
	return nil
}

// note returns the path of a file beside the pieces of a run.
func (f folder) note(run int32, name string) string { return filepath.Join(f.run(run), name) }

const stateNote, tailNote = "state.", "tail."

// LastState returns the latest state of a name, nil if there is none.
func (r *Run) LastState(name string) (*State, error) {
	s, err := r.store.lastState(name)
	if s != nil {
		r.after = max(r.after, s.Run)
	}
	return s, err
}

// LastState returns the latest state of a name in the database at path, nil if there is none, or no database.
func LastState(path, name string) (*State, error) {
	f := folder(path)
	if err := f.check(); err != nil {
		if errors.Is(err, errNone) || errors.Is(err, errNoRuns) {
			return nil, nil
		}
		return nil, err
	}
	return f.lastState(name)
}

func (f folder) lastState(name string) (*State, error) {
	if err := CheckStateName(name); err != nil {
		return nil, err
	}
	run, err := f.lastNote(stateNote + name)
	if err != nil || run == 0 {
		return nil, f.wrap(plain(err))
	}
	s, err := readState(f.note(run, stateNote+name))
	if err != nil {
		return nil, f.wrap(fmt.Errorf("the state %s cannot be read: %w", name, err))
	}
	s.Run = run
	return s, nil
}

// lastNote returns the last run that has a note of that name, 0 if none has.
func (f folder) lastNote(name string) (run int32, err error) {
	all, err := f.list()
	for _, r := range all {
		if slices.Contains(r.notes, name) {
			run = r.run
		}
	}
	return run, err
}

// stillLast reports an error if another run of the series has landed since this one has begun: both have read the same
// lines.
func (r *Run) stillLast() error {
	if r.State == nil {
		return nil
	}
	run, err := r.store.lastNote(stateNote + r.State.Name)
	if err == nil && run > r.after {
		err = fmt.Errorf("run %d of the same series has landed meanwhile, and has the same lines: do not repeat this one", run)
	}
	return err
}

func readState(path string) (*State, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, plain(err)
	}
	head, body, _ := bytes.Cut(text, []byte("\n"))
	s := &State{Body: body}
	return s, json.Unmarshal(head, s)
}

// writeState puts the state beside the run.
func (r *Run) writeState() (err error) {
	s := r.State
	if s == nil {
		return nil
	}
	if err := CheckStateName(s.Name); err != nil {
		return fmt.Errorf("state %q: %w", s.Name, err)
	}
	f, err := os.Create(filepath.Join(r.place.path, stateNote+s.Name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if err := json.NewEncoder(w).Encode(s); err != nil {
		return err
	}
	w.Write(s.Body) //nolint:errcheck // Flush returns the error
	return w.Flush()
}

// forgetNotes removes the notes of a name beside earlier runs, as far as that can be done: a later one counts.
func (f folder) forgetNotes(name string, before int32) {
	all, _ := f.list()
	for _, r := range all {
		if r.run < before && slices.Contains(r.notes, name) {
			os.Remove(f.note(r.run, name)) // see above
			if len(r.pieces) == 0 {
				os.Remove(f.run(r.run)) // it may have another
			}
		}
	}
}

// noteTail notes the last batch of a tail beside the run that it went into, which is about to be deleted: a batch that
// the tail sends again does not come back.
func (f folder) noteTail(run int32, tail string, batch int64) error {
	path := f.note(run, tailNote+tail)
	err := os.WriteFile(path, fmt.Append(nil, batch), 0o666)
	if err == nil {
		err = errors.Join(syncPath(path), syncPath(f.run(run)))
	}
	return err
}

// notedBatch returns the last batch of a tail that notes tell of.
func (f folder) notedBatch(all []runFolder, tail string) (last uint64) {
	for _, r := range all {
		if slices.Contains(r.notes, tailNote+tail) {
			var batch uint64
			text, _ := os.ReadFile(f.note(r.run, tailNote+tail))
			fmt.Sscan(string(text), &batch) //nolint:errcheck // 0 is none
			last = max(last, batch)
		}
	}
	return last
}
