// Package samplelogs writes access logs of a shop that does not exist: a seed and a few numbers come in, lines as
// nginx and Apache write them go out, the same bytes for the same seed on every machine.
//
// It serves two purposes. A Generator makes large logs for benchmarks: any number of lines, quicker than a disk takes
// them. Samples makes the small logs of this folder, in which known behaviours are planted.
//
// All arithmetic is in integers: floating point may round differently from one processor to the next.
package samplelogs
