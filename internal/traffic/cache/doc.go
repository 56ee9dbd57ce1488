// Package cache keeps the requests of a log in a file: batches come in once, and the same batches go out as often as they
// are asked for.
package cache
