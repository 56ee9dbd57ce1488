//go:build linux || darwin

// Command bench measures shadow on this machine: speed beside `wc -l` on the same file, storing, gzip input, sweeps and
// suggestions, how fast a tail catches up, start-up and memory. Generated logs go in, tables of the measured figures
// beside their targets come out.
//
// Other programs disturb the clock, so no single time is judged. The contenders of a table run in turns, round after
// round, and a ratio is the median over the rounds of the ratio within a round.
package main
