// Package store keeps runs in a DuckDB file: verdicts and tallies come in, a file that people query goes out, and the
// answers to their questions come back. A run lands whole or not at all. docs/schema.md describes the tables and views.
package store
