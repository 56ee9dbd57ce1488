// Package job judges logs with Apache Beam: a job comes in, and Parquet with what a replay of its logs finds goes out.
//
//	byte ranges ─▶ pack ─▶ blocks by shard ─▶ judge ─▶ sums ─▶ add ─▶ Parquet
//
// Package shard packs and hands out; here are the DoFns. An element is the requests of a whole shard in a whole
// byte range: a pipeline with an element for each request costs ten times as much.
package job
