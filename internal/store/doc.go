// Package store keeps runs in a folder of Parquet files, which DuckDB writes and reads: verdicts and tallies come in, files
// that people query go out, and the answers to their questions come back.
//
//	shadow.db/
//	    version            of the layout
//	    lock               held for the moment in which something lands or goes
//	    shadow.duckdb      the tables of docs/schema.md as views, for any DuckDB; made again whenever something lands
//	    runs/
//	        run=1/1/       a run: one Parquet file for each table that has rows
//	        run=2/1-16/    the run of a tail: batches, of which some are put together
//	        run=2/17/
//	        run=3/1/       a night …
//	        run=3/state.X  … and where the next one of its series goes on
//	        .tmp-…/        on its way: nothing of it counts
//
// What lands is written aside, synced and renamed: it is there whole or not at all. Files never change. Writers do not
// wait for readers, nor readers for writers.
package store
