// Package pipeline takes in a question about logs, as the fields that flags set, and wires what answers it: files,
// parsing, evidence, limits, the database. Out come reports on a Caller's writers, and an error. Commands name the
// flags, parse them, and refuse those that contradict each other.
package pipeline
