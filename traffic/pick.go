package traffic

// What it takes to look at some requests of a batch apart from the others.

// RowsOf are the rows of a client, in the order of time.
func (b *Batch) RowsOf(client int32) []int32 {
	var rows []int32
	for row, c := range b.Client {
		if c == client {
			rows = append(rows, int32(row))
		}
	}
	new(rowSorter).sort(b, rows)
	return rows
}

// Append adds rows of src, which must have the same optional columns apart from Seq. With its first rows, b gets them.
func (b *Batch) Append(src *Batch, rows []int32) {
	b.Seq = appendRows(b.Seq, src.Sequence(), rows)
	b.At = appendRows(b.At, src.At, rows)
	b.Client = appendRows(b.Client, src.Client, rows)
	b.Agent = appendRows(b.Agent, src.Agent, rows)
	b.Action = appendRows(b.Action, src.Action, rows)
	b.Status = appendRows(b.Status, src.Status, rows)
	b.Bytes = appendRows(b.Bytes, src.Bytes, rows)
	b.Source = appendRows(b.Source, src.Source, rows)
	b.Host = appendRows(b.Host, src.Host, rows)
	b.User = appendRows(b.User, src.User, rows)
	b.Path = appendRows(b.Path, src.Path, rows)
	b.Upstream = appendRows(b.Upstream, src.Upstream, rows)
	b.Marks = appendRows(b.Marks, src.Marks, rows)
	b.Traces = appendRows(b.Traces, src.Traces, rows)
}

func appendRows[T any](dst, src []T, rows []int32) []T {
	if src == nil {
		return dst
	}
	for _, row := range rows {
		dst = append(dst, src[row])
	}
	return dst
}

// Head is the first n rows of b, in the same memory.
func (b *Batch) Head(n int) *Batch {
	head := *b
	head.Truncate(n)
	return &head
}
