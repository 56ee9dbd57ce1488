// Package duck asks DuckDB, and fills its tables: questions → rows of Go, rows → vectors of columns.
package duck
