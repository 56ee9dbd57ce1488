package logfile

import "bytes"

// How far logs have been read is kept between two readings, and what their files were known by. A log is one name with the
// files that had it, one after the other:
//
//	access.log.2.gz   access.log.1   access.log
//	└── read to its end, now compressed  └── read as far as it went

// A Place is where reading goes on.
type Place struct {
	Offset   int64 `json:"offset"`             // of the first byte not yet read, after decompression
	Skipping bool  `json:"skipping,omitempty"` // inside a line of which no more is wanted
}

// A SavedLog is how far one log had been read.
type SavedLog struct {
	Name  string      `json:"name"`
	Files []SavedFile `json:"files"` // oldest first; the last one had the name
	Known []Identity  `json:"known"` // siblings that had been read, or were not to be

	Closed []SavedFile `json:"closed,omitempty"` // files that were read and may come back, latest last

	Formers []SavedFile `json:"formers,omitempty"` // files that were truncated, while the rest of them is looked for in copies
	Empty   *Identity   `json:"empty,omitempty"`   // the file that had the name, if nothing was in it

	Series bool `json:"series,omitempty"` // whether it is one, and Name is that of it

	Missed int `json:"missed,omitempty"` // how many times it was not given since, where logs are given
}

// HasLines reports whether the whole lines of a beginning are the first ones of the file.
func (f *SavedFile) HasLines(head []byte) bool {
	n := bytes.Count(head, []byte{'\n'})
	if n == 0 || n > len(f.Lines) {
		return false
	}
	whole := head[:bytes.LastIndexByte(head, '\n')+1]
	return uint32(sum(whole)) == f.Lines[n-1]
}

// A SavedFile is how far one file had been read.
type SavedFile struct {
	Identity
	Place
	Compressed bool `json:"packed,omitempty"` // it was compressed, and read to its end: nothing can have been added

	Spent bool `json:"spent,omitempty"` // it had lost the name, and was read to its end: hardly anything can have been added

	Lines []uint32 `json:"lines,omitempty"` // LineSums of its beginning, where a shorter copy of it may turn up
}
