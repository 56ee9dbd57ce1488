package shard

import "shadow/limit"

// A Place orders requests by time. The zero Place is before all.
type Place struct {
	Known  bool
	Seq    limit.Time
	Last   bool // it stands behind others of its moment, see traffic.Batch.Compare
	Source uint32
	Line   int64
}

// Before reports whether p comes before q.
func (p Place) Before(q Place) bool {
	switch {
	case p.Known != q.Known:
		return q.Known
	case p.Seq != q.Seq:
		return p.Seq < q.Seq
	case p.Last != q.Last:
		return q.Last
	case p.Source != q.Source:
		return p.Source < q.Source
	}
	return p.Line < q.Line
}
