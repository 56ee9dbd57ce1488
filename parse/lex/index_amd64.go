//go:build !purego

package lex

import "golang.org/x/sys/cpu"

// HasIndex reports whether this processor has the instructions of indexChunks.
var HasIndex = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// indexChunks writes the index of some chunks, and returns how many marks it has. Behind them it may write excess others.
//
//go:noescape
func indexChunks(data *byte, chunks int, marks *uint32) int
