// Package calibrate holds limits against what a server decided: requests with the server's verdicts come in; the limits
// that explain these best go out, with what contradicts them, and how clients behaved after a refusal.
package calibrate
