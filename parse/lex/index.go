package lex

// The index of some lines is where their quotes, line feeds and backslashes stand, in the order in which they come.
// A line without a backslash and with all the quotes of its format shows by them alone where each field lies:
//
//	192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "https://example.org/" "curl/8"⏎
//	                                           ^              ^         ^                    ^ ^      ^^
//
// Processors with AVX2 find them 64 bytes at a time (index_amd64.s). On others, to look for one after the other costs
// as much as the index saves: there the scanner reads all lines. So it does when built with the tag purego.

const (
	chunk  = 64 // bytes that are indexed at a time
	excess = 4  // marks that may be written behind those of chunks

	// IndexRoom is for how many marks more than bytes an index needs room.
	IndexRoom = chunk + excess
)

// AppendIndex appends to marks, which has room for len(data)+IndexRoom more, the index of data. It may be called where
// HasIndex is true.
func AppendIndex(marks []uint32, data []byte) []uint32 {
	whole := len(data) / chunk * chunk
	marks = appendChunks(marks, data[:whole])
	if whole == len(data) {
		return marks
	}
	var rest [chunk]byte // so that nothing behind data is read
	copy(rest[:], data[whole:])
	n := len(marks)
	marks = appendChunks(marks, rest[:])
	for i := range marks[n:] {
		marks[n+i] += uint32(whole)
	}
	return marks
}

// appendChunks is AppendIndex of whole chunks.
func appendChunks(marks []uint32, data []byte) []uint32 {
	n, end := len(marks), len(marks)+len(data)+excess
	if len(data) == 0 {
		return marks
	}
	return marks[:n+indexChunks(&data[0], len(data)/chunk, &marks[n:end][0])]
}
