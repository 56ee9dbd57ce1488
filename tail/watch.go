package tail

import (
	"path/filepath"
	"sync/atomic"

	"github.com/fsnotify/fsnotify"
)

// A watch wakes the tail when something happens in the folders of its logs. It only saves time: the tail looks by itself
// four times a second, so that it works where notification does not, as on network file systems. A nil watch is none.
type watch struct {
	watcher *fsnotify.Watcher
	folders map[string]bool
}

// startWatch begins to wake a tail, with a note when names have changed.
func startWatch(wake chan<- struct{}, renamed *atomic.Bool) *watch {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil // there may be too many already
	}
	go func() {
		for event := range watcher.Events {
			if event.Has(fsnotify.Create | fsnotify.Rename | fsnotify.Remove) {
				renamed.Store(true)
			}
			rouse(wake)
		}
	}()
	go func() {
		for range watcher.Errors { // a queue that overflows has woken us before
			renamed.Store(true)
			rouse(wake)
		}
	}()
	return &watch{watcher, map[string]bool{}}
}

// add watches the folders of logs that are new or have another file now, and of what they link to.
func (w *watch) add(logs []*log) {
	if w == nil {
		return
	}
	for _, l := range logs {
		if l.pipe || l.watched {
			continue
		}
		l.watched = w.folder(filepath.Dir(l.name))
		if target, err := filepath.EvalSymlinks(l.name); err == nil && target != l.name {
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
