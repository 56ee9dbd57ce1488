// Package drill takes in a question about logs, and a server that has the limit: which requests of the worst minutes
// does it refuse? Out come these requests, sent to the server with their timing, and a report on its answers.
package drill
