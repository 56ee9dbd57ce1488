//go:build !unix

package logfile

import "io/fs"

const nonblock = 0 // files that are read are no pipes

// NodeOf returns the Node of a file.
func NodeOf(fs.FileInfo) Node { return Node{} }

// IsDeleted reports whether an open file has no name any more, where the system can tell.
func IsDeleted(fs.FileInfo) bool { return false }
