//go:build !unix

package store

import "os"

// lockFile locks nothing: no other process may use the database meanwhile.
func lockFile(*os.File) error { return nil }
