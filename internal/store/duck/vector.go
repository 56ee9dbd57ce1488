//go:build !nostore && !js

package duck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// Values of any type that DuckDB has, as what Rows.Next promises. A Vector knows its type; pointed at a chunk, it reads
// the memory of DuckDB.

// maxValue bounds the bytes of one text or BLOB of an answer. What shows it needs several times as much.
const maxValue = 64 << 20

// A Vector is a column, or what a column of lists, structures, maps or unions consists of.
type Vector struct {
	kind     mapping.Type
	name     string       // of a field of a structure
	json     bool         // a text that is JSON
	stored   mapping.Type // how an enum or a decimal is stored
	width    uint8        // of a decimal
	scale    uint8        // of a decimal
	size     int          // of an array
	words    []string     // of an enum
	parts    []Vector
	data     unsafe.Pointer
	validity unsafe.Pointer // nil: nothing is NULL
}

// newVector reads a type, which it destroys.
func newVector(t mapping.LogicalType) Vector {
	defer mapping.DestroyLogicalType(&t)
	v := Vector{kind: mapping.GetTypeId(t)}
	switch v.kind {
	case mapping.TypeVarchar:
		v.json = mapping.LogicalTypeGetAlias(t) == "JSON"
	case mapping.TypeDecimal:
		v.stored, v.width, v.scale = mapping.DecimalInternalType(t), mapping.DecimalWidth(t), mapping.DecimalScale(t)
	case mapping.TypeEnum:
		v.stored = mapping.EnumInternalType(t)
		for i := range mapping.EnumDictionarySize(t) {
			v.words = append(v.words, mapping.EnumDictionaryValue(t, mapping.IdxT(i)))
		}
	case mapping.TypeList:
		v.parts = []Vector{newVector(mapping.ListTypeChildType(t))}
	case mapping.TypeArray:
		v.size = int(mapping.ArrayTypeArraySize(t))
		v.parts = []Vector{newVector(mapping.ArrayTypeChildType(t))}
	case mapping.TypeMap: // a list of structures
		entry := Vector{kind: mapping.TypeStruct, parts: []Vector{newVector(mapping.MapTypeKeyType(t)), newVector(mapping.MapTypeValueType(t))}}
		v.parts = []Vector{entry}
	case mapping.TypeStruct:
		for i := range mapping.StructTypeChildCount(t) {
			v.parts = append(v.parts, newVector(mapping.StructTypeChildType(t, i)))
			v.parts[i].name = mapping.StructTypeChildName(t, i)
		}
	case mapping.TypeUnion: // a structure of the place of a member, and the members
		v.parts = []Vector{{kind: mapping.TypeUTinyInt}}
		for i := range mapping.UnionTypeMemberCount(t) {
			v.parts = append(v.parts, newVector(mapping.UnionTypeMemberType(t, i)))
		}
	}
	return v
}

// point makes v read a vector of a chunk.
func (v *Vector) point(at mapping.Vector) {
	v.data, v.validity = mapping.VectorGetData(at), mapping.VectorGetValidity(at)
	switch v.kind {
	case mapping.TypeList, mapping.TypeMap:
		v.parts[0].point(mapping.ListVectorGetChild(at))
	case mapping.TypeArray:
		v.parts[0].point(mapping.ArrayVectorGetChild(at))
	case mapping.TypeStruct, mapping.TypeUnion:
		for i := range v.parts {
			v.parts[i].point(mapping.StructVectorGetChild(at, mapping.IdxT(i)))
		}
	}
}

// as reads a value as it stands in memory.
func as[T any](v *Vector, row int) T {
	var none T
	return *(*T)(unsafe.Add(v.data, row*int(unsafe.Sizeof(none))))
}

func (v *Vector) null(row int) bool {
	if v.validity == nil {
		return false
	}
	word := *(*uint64)(unsafe.Add(v.validity, row/64*8))
	return word>>(row%64)&1 == 0
}

// raw is a text or a BLOB as it is kept.
func (v *Vector) raw(row int) string {
	return mapping.StringTData((*mapping.StringT)(unsafe.Add(v.data, row*int(unsafe.Sizeof(mapping.StringT{})))))
}

// Value is one of the values that Rows.Next promises.
func (v *Vector) Value(row int) (any, error) {
	if v.kind == mapping.TypeSQLNull || v.null(row) {
		return nil, nil
	}
	switch v.kind {
	case mapping.TypeBoolean:
		return as[bool](v, row), nil
	case mapping.TypeTinyInt, mapping.TypeSmallInt, mapping.TypeInteger, mapping.TypeBigInt:
		return v.integer(v.kind, row), nil
	case mapping.TypeUTinyInt, mapping.TypeUSmallInt, mapping.TypeUInteger, mapping.TypeUBigInt:
		return uint64(v.integer(v.kind, row)), nil
	case mapping.TypeHugeInt, mapping.TypeUHugeInt:
		return plainBig(as[wide](v, row).big(v.kind == mapping.TypeHugeInt)), nil
	case mapping.TypeFloat: // by way of its shortest text, so that 0.1 stays 0.1
		f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(as[float32](v, row)), 'g', -1, 32), 64)
		return plainFloat(f), nil
	case mapping.TypeDouble:
		return plainFloat(as[float64](v, row)), nil
	case mapping.TypeDecimal:
		d := duckdb.Decimal{Width: v.width, Scale: v.scale}
		if v.stored == mapping.TypeHugeInt {
			d.Value = as[wide](v, row).big(true)
		} else {
			d.Value = big.NewInt(v.integer(v.stored, row))
		}
		return json.Number(d.String()), nil
	case mapping.TypeUUID:
		w := as[wide](v, row)
		high := uint64(w.high) ^ 1<<63 // so that they sort
		return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, w.low>>48, w.low&(1<<48-1)), nil
	case mapping.TypeEnum:
		return v.words[v.integer(v.stored, row)], nil
	case mapping.TypeVarchar, mapping.TypeBlob, mapping.TypeBit, mapping.TypeBigNum, mapping.TypeGeometry:
		return v.bytes(row)
	case mapping.TypeList, mapping.TypeArray, mapping.TypeMap, mapping.TypeStruct, mapping.TypeUnion:
		return v.nested(row)
	case mapping.TypeInterval:
		i := as[mapping.Interval](v, row)
		months, days, micros := mapping.IntervalMembers(&i)
		return intervalText(months, days, micros), nil
	}
	return v.time(row)
}

// A wide number has 128 bits.
type wide struct {
	low  uint64
	high int64
}

func (w wide) big(signed bool) *big.Int {
	n := big.NewInt(w.high)
	if !signed {
		n.SetUint64(uint64(w.high))
	}
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(w.low))
}

// integer is a number of at most 64 bits, stored in some type; of one without sign the bits count.
func (v *Vector) integer(stored mapping.Type, row int) int64 {
	switch stored {
	case mapping.TypeTinyInt:
		return int64(as[int8](v, row))
	case mapping.TypeSmallInt:
		return int64(as[int16](v, row))
	case mapping.TypeInteger:
		return int64(as[int32](v, row))
	case mapping.TypeUTinyInt:
		return int64(as[uint8](v, row))
	case mapping.TypeUSmallInt:
		return int64(as[uint16](v, row))
	case mapping.TypeUInteger:
		return int64(as[uint32](v, row))
	}
	return as[int64](v, row)
}

// bytes is a value of a type that is kept as bytes.
func (v *Vector) bytes(row int) (any, error) {
	if n := as[[4]uint32](v, row)[0]; n > maxValue {
		return nil, fmt.Errorf("a value has %d bytes: at most %d can be shown; ask for a part of it, such as left(…, 1000)", n, maxValue)
	}
	text := v.raw(row)
	switch {
	case v.json:
		var value any
		_ = json.Unmarshal([]byte(text), &value) // DuckDB has checked it
		return value, nil
	case v.kind == mapping.TypeVarchar:
		return text, nil
	case v.kind == mapping.TypeBit:
		return bitText(text), nil
	case v.kind == mapping.TypeBigNum:
		return plainBig(bigNumber(text)), nil
	}
	return blobText(text), nil
}

// nested is a value that consists of others.
func (v *Vector) nested(row int) (any, error) {
	switch v.kind {
	case mapping.TypeStruct:
		fields := make(map[string]any, len(v.parts))
		for i := range v.parts {
			value, err := v.parts[i].Value(row)
			if err != nil {
				return nil, err
			}
			fields[v.parts[i].name] = value
		}
		return fields, nil
	case mapping.TypeUnion:
		return v.parts[1+as[uint8](&v.parts[0], row)].Value(row)
	}
	from, n := row*v.size, v.size
	if v.kind != mapping.TypeArray {
		entry := as[[2]uint64](v, row) // offset and length
		from, n = int(entry[0]), int(entry[1])
	}
	if v.kind == mapping.TypeMap {
		fields := make(map[string]any, n)
		for i := from; i < from+n; i++ {
			key, errKey := v.parts[0].parts[0].Value(i)
			value, err := v.parts[0].parts[1].Value(i)
			if err = cmp.Or(errKey, err); err != nil {
				return nil, err
			}
			fields[KeyText(key)] = value
		}
		return fields, nil
	}
	items := make([]any, n)
	for i := range items {
		item, err := v.parts[0].Value(from + i)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return items, nil
}

// time is a moment, a day or a time of day: RFC 3339 in UTC, to the microsecond, or to the nanosecond where there are
// any.
func (v *Vector) time(row int) (any, error) {
	const micros, nanos = "2006-01-02T15:04:05.000000Z07:00", "2006-01-02T15:04:05.000000000Z07:00"
	switch v.kind {
	case mapping.TypeDate:
		return time.Unix(int64(as[int32](v, row))*86_400, 0).UTC().Format(time.DateOnly), nil
	case mapping.TypeTimestamp, mapping.TypeTimestampTZ:
		return time.UnixMicro(as[int64](v, row)).UTC().Format(micros), nil
	case mapping.TypeTimestampS:
		return time.Unix(as[int64](v, row), 0).UTC().Format(micros), nil
	case mapping.TypeTimestampMS:
		return time.UnixMilli(as[int64](v, row)).UTC().Format(micros), nil
	case mapping.TypeTimestampNS:
		return time.Unix(0, as[int64](v, row)).UTC().Format(nanos), nil
	case mapping.TypeTime:
		return time.UnixMicro(as[int64](v, row)).UTC().Format("15:04:05.000000"), nil
	case mapping.TypeTimeTZ:
		parts := mapping.FromTimeTZ(as[mapping.TimeTZ](v, row))
		clock, offset := mapping.TimeTZStructMembers(&parts)
		hour, minute, second, micro := mapping.TimeStructMembers(&clock)
		zone := time.FixedZone("", int(offset))
		return time.Date(1, 1, 1, int(hour), int(minute), int(second), int(micro)*1000, zone).Format("15:04:05.000000Z07:00"), nil
	}
	return nil, fmt.Errorf("an answer has a column of a type that cannot be shown: add ::VARCHAR to it")
}

// plainFloat is f, or DuckDB's word for what JSON has no number for.
func plainFloat(f float64) any {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return f
}

func plainBig(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return json.Number(n.String())
}
