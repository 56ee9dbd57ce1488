// Package evidence tells people from programs by what they do: the traces of requests come in, and verdicts go out.
package evidence
