//go:build !(isal && cgo && linux)

package logfile

func newMember() gzipMember { return new(goMember) }
