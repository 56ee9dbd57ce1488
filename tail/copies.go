package tail

import (
	"context"

	"shadow/logfile"
)

// A tail that begins at the start of several logs may find one of them twice: a backup beside the log, a copy in another
// folder. Then
// the copy is followed from its end, so that each line counts once, what is added to the copy too.

// skipCopies goes to the ends of logs that hold nothing but what others hold, before anything is read.
func (t *Tail) skipCopies() {
	var names []string
	files, logs := map[string]*file{}, map[string]*log{}
	for _, l := range t.logs {
		for _, g := range l.files {
			if f, ok := g.(*file); ok && f.at == (logfile.Place{}) && f.size > 0 {
				name := f.handle.Name()
				names = append(names, name)
				files[name], logs[name] = f, l
			}
		}
	}
	copies, err := logfile.FindCopies(context.Background(), names)
	if err != nil {
		return // it has no other cause than the context
	}
	what := map[logfile.How]string{logfile.SameLines: "holds the same as", logfile.Beginning: "is the beginning of"}
	for _, c := range copies.Found {
		files[c.Name].skipToEnd()
		logs[c.Name].say("%s: %s %s; it is followed from its end", c.Name, what[c.How], c.Of)
	}
	for _, c := range copies.Doubts {
		logs[c.Name].say("%s: begins as %s does, and is too short to prove a copy; its lines count", c.Name, c.Of)
	}
}
