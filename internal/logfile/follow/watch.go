package follow

import (
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// A watch wakes the caller when something happens in the folders of the logs. It only saves time: a caller that looks
// by itself as well also works where notification does not, as on network file systems. A nil watch watches nothing.
type watch struct {
	watcher *fsnotify.Watcher
	folders map[string]bool
}

// Watch begins to send to Wake when something happens in the folders of the logs.
func (s *Set) Watch() {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return // there may be too many already
	}
	go func() {
		for event := range watcher.Events {
			if event.Has(fsnotify.Create | fsnotify.Rename | fsnotify.Remove) {
				s.renamed.Store(true)
			}
			rouse(s.Wake)
		}
	}()
	go func() {
		for range watcher.Errors { // a queue that overflows has woken us before
			s.renamed.Store(true)
			rouse(s.Wake)
		}
	}()
	s.watch = &watch{watcher, map[string]bool{}}
}

// add watches the folders of logs that are new or have another file now, and of what they link to.
func (w *watch) add(logs []*Log) {
	if w == nil {
		return
	}
	for _, l := range logs {
		if l.pipe || l.watched {
			continue
		}
		l.watched = w.folder(filepath.Dir(l.Name))
		if target, err := filepath.EvalSymlinks(l.Name); err == nil && target != l.Name {
			w.folder(filepath.Dir(target))
		}
	}
}

// folder watches a folder, unless it is not there yet.
func (w *watch) folder(name string) bool {
	if !w.folders[name] {
		w.folders[name] = w.watcher.Add(name) == nil
	}
	return w.folders[name]
}

func (w *watch) close() {
	if w != nil {
		_ = w.watcher.Close()
	}
}

// rouse wakes the receiver, if it waits.
func rouse(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
