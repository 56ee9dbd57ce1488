// Package shard divides the requests of logs by a hash of a key, or by time, so that any number of processes can judge
// them: logs come in, part by part, and blocks go out, one for each shard and part. From the blocks of some shards come
// the requests of these, in the order that one reading of the logs gives them.
package shard
