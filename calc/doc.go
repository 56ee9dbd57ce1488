// Package calc works limits out without a log: the numbers of a bucket, or a limit, and a made-up client come in; what
// the limiter would make of the client's requests, and how full it would be meanwhile, goes out.
package calc
