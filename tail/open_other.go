//go:build !unix

package tail

import "io/fs"

const nonBlocking = 0 // there is nothing to wait for

// isDeleted reports whether a file has no name any more, where the system can tell.
func isDeleted(fs.FileInfo) bool { return false }
