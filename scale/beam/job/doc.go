// Package job judges logs with Apache Beam: a job comes in, and Parquet with what a replay of its logs finds goes out.
//
//	byte ranges ─▶ pack ─▶ blocks by shard ─▶ judge ─▶ sums ─▶ add ─▶ Parquet
//
// Package shard has the three functions; here they are DoFns. An element is the requests of a whole shard in a whole
// byte range: a pipeline with an element for each request costs ten times as much.
package job
