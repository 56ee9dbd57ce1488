// Package who tells who each client of a log is: batches come in, and one identity for each client goes out, with reasons.
package who
