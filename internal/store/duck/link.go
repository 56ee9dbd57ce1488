//go:build linux && !nostore

package duck

// DuckDB's module has the linker show all names to libraries that are loaded later. There are none. They are
// 7 MB of the program, and what the system looks for among them is a seventh of its start.

// #cgo LDFLAGS: -Wl,--no-export-dynamic
import "C"
