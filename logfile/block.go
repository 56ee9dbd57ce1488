package logfile

import "bytes"

// MaxLine is the longest line that is handed over whole, in bytes without its line feed. Of a longer one only the
// first MaxLine+1 bytes come, so that its length tells; the rest is skipped unseen, and it counts as one line.
const MaxLine = 1 << 20

// blockSize is how many bytes of content a Block holds when no line is longer than that: enough to make what happens
// once per block cheap, and little enough for a block to stay in the cache of the core that parses it.
const blockSize = 512 << 10

// A Block is a run of whole lines of one input.
type Block struct {
	Data   []byte // whole lines; the last one may lack its line feed at the end of the input
	Offset int64  // of its first byte in the input (after decompression)
}

// End is the place behind the block.
func (b *Block) End() Place {
	if len(b.Data) == MaxLine+2 && bytes.IndexByte(b.Data, '\n') == MaxLine+1 { // a cut line, with a line feed that is ours
		return Place{Offset: b.Offset + MaxLine + 1, Skipping: true}
	}
	return Place{Offset: b.Offset + int64(len(b.Data))}
}
