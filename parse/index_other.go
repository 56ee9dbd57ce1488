//go:build !amd64 || purego

package parse

// indexesChunks reports that there is no indexChunks here.
const indexesChunks = false

func indexChunks(*byte, int, *uint32) int { panic("parse: no chunks are indexed here") }
