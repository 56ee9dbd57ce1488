// Package replay is the loop that everything runs through: policies and batches of requests come in; verdicts go
// out, to tallies (who was refused how often) and to sinks (each would-block event).
package replay
