// Package pipeline takes in a question about logs, as the fields that flags set, and wires what answers it: files,
// parsing, evidence, limits, the database. Out come reports on a Caller's writers, and an error. What a flag is called
// and how it is typed is the business of commands; which flags contradict each other is theirs, too.
package pipeline
