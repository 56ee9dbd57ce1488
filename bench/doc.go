//go:build linux || darwin

// Command bench measures shadow on this machine: speed beside `wc -l` on the same file, how fast a tail catches up, what
// policies of several limits and storing cost, how soon a stored run is shown, gzip input, and memory. Generated logs go
// in, tables with the measured figures beside their targets come out.
//
// Whoever shares the machine disturbs the clock, so nothing is judged by a single time. The contenders of a table run
// in turns, round after round, and what counts is the median over the rounds of the ratio within a round.
package main
