// Package sample takes a part of the clients of a log, and tells what that part says of them all. Batches come in; the
// batches of the sample go out, and intervals that hold the figures of the whole log.
package sample
