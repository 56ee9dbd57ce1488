//go:build !linux

package logfile

import "io/fs"

// changedAt is 0: this system does not tell.
func changedAt(fs.FileInfo) int64 { return 0 }
