//go:build !amd64 || purego

package lex

// HasIndex reports that there is no indexChunks here.
const HasIndex = false

func indexChunks(*byte, int, *uint32) int { panic("parse: no chunks are indexed here") }
