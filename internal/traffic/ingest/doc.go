// Package ingest reads logs: blocks of lines come in, and batches of requests go out, in the order of time. A Reader reads
// inputs to their ends on all cores; a Stream takes what others read from logs that grow.
package ingest
