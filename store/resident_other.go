//go:build !linux

package store

// resident is not known here: only DuckDB's own account bounds a question.
func resident() (int64, bool) { return 0, false }
