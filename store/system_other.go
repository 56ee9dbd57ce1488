//go:build !unix

package store

import (
	"errors"
	"io/fs"
	"os"
)

var errLocked = errors.New("locked")

// Without locks nobody else may use the database meanwhile.

func lockFile(*os.File) error     { return nil }
func lockDatabase(*os.File) error { return nil }

// sameOwner does nothing where files inherit their owner from the folder.
func sameOwner(string, fs.FileInfo) error { return nil }
