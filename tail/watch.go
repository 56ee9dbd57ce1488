package tail

import (
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// A watch wakes the tail when something happens in the folders of its logs. It only saves time: the tail looks by itself
// four times a second, so that it works where notification does not, as on network file systems. A nil watch is none.
type watch struct {
	watcher *fsnotify.Watcher
	folders map[string]bool
}

func startWatch(wake chan<- struct{}) *watch {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil // there may be too many already
	}
	go func() {
		for range watcher.Events {
			rouse(wake)
		}
	}()
	go func() {
		for range watcher.Errors { // a queue that overflows has woken us before
			rouse(wake)
		}
	}()
	return &watch{watcher, map[string]bool{}}
}

// add watches the folders of logs, and of what they link to.
func (w *watch) add(logs []*log) {
	if w == nil {
		return
	}
	for _, l := range logs {
		if l.pipe {
			continue
		}
		w.folder(filepath.Dir(l.name))
		if target, err := filepath.EvalSymlinks(l.name); err == nil && target != l.name {
			w.folder(filepath.Dir(target))
		}
	}
}

func (w *watch) folder(name string) {
	if !w.folders[name] {
		w.folders[name] = w.watcher.Add(name) == nil // tried again if it is not there yet
	}
}

func (w *watch) close() {
	if w != nil {
		_ = w.watcher.Close()
	}
}
