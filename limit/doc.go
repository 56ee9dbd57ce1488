// Package limit is the vocabulary that everything else speaks: what a moment is (Time), what a limiter does
// (Limiter), what it remembers of one key (State), and how people write a limit down (Spec).
//
// A text such as "token:6/30s,burst=10" comes in, a comparable Spec goes out; package policy turns it into a Limiter.
// The package uses the standard library only.
package limit
