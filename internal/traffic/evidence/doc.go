// Package evidence tells people from programs by what they do: the clues of requests come in, and signals go out.
package evidence
