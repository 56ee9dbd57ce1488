// Package live takes in a question about logs that grow, and wires a tail: with a screen, with Redis, with a database.
// Out come would-blocks until a signal comes.
package live
