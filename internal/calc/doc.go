// Package calc works limits out without a log. A limit, or the numbers of a bucket, and a made-up client come in. What
// the limiter admits of that client's requests, and how full it is meanwhile, goes out.
package calc
