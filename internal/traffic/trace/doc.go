// Package trace keeps the requests of a log for further passes: batches come in once, and the same batches go out as
// often as they are asked for.
package trace
