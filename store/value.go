package store

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// plainValue turns what the driver hands over for a value of DuckDB type duckType into what Rows.Next promises.
func plainValue(v any, duckType string) any {
	switch v := v.(type) {
	case nil, bool, string, int64, uint64:
		return v
	case float64:
		return plainFloat(v)
	case float32: // by way of its shortest text, so that 0.1 stays 0.1
		f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		return plainFloat(f)
	case *big.Int:
		if v.IsInt64() {
			return v.Int64()
		}
		return json.Number(v.String())
	case duckDecimal:
		return json.Number(v.String())
	case time.Time:
		return v.Format(timeLayout(duckType))
	case duckInterval:
		return intervalText(v)
	case []byte:
		return bytesText(v, duckType)
	case duckUnion:
		return plainValue(v.Value, "")
	case duckMap:
		return plainMap(v)
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, field := range v {
			fields[name] = plainValue(field, "")
		}
		return fields
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = plainValue(item, itemType(duckType))
		}
		return items
	}
	return plainInt(v)
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

// plainInt widens the smaller integers; what it does not know it prints.
func plainInt(v any) any {
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return r.Int()
	case r.CanUint():
		return r.Uint()
	}
	return fmt.Sprint(v)
}

func plainMap(m duckMap) any {
	keys, values := m.Keys(), m.Values()
	fields := make(map[string]any, len(keys))
	for i := range keys {
		fields[keyText(plainValue(keys[i], ""))] = plainValue(values[i], "")
	}
	return fields
}

// itemType is the type of a list's items: BIGINT for BIGINT[] and for BIGINT[3].
func itemType(list string) string {
	if i := strings.LastIndexByte(list, '['); i >= 0 {
		return list[:i]
	}
	return ""
}

// timeLayout is how times are written: RFC 3339 in UTC, to the microsecond, or to the nanosecond where there are any.
func timeLayout(duckType string) string {
	switch duckType {
	case "DATE":
		return time.DateOnly
	case "TIME":
		return "15:04:05.000000"
	case "TIMETZ", "TIME WITH TIME ZONE":
		return "15:04:05.000000Z07:00"
	case "TIMESTAMP_NS":
		return "2006-01-02T15:04:05.000000000Z07:00"
	}
	return "2006-01-02T15:04:05.000000Z07:00"
}

// intervalText writes an interval as DuckDB does: its months, days and microseconds stand for themselves, because
// neither months nor days have a fixed length.
func intervalText(v duckInterval) string {
	var parts []string
	for _, p := range []struct {
		n    int32
		unit string
	}{{v.Months / 12, "year"}, {v.Months % 12, "month"}, {v.Days, "day"}} {
		switch p.n {
		case 0:
		case 1, -1:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.unit))
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.unit))
		}
	}
	if v.Micros != 0 || len(parts) == 0 {
		parts = append(parts, clockText(v.Micros))
	}
	return strings.Join(parts, " ")
}

// clockText writes microseconds as 26:03:04.000005.
func clockText(micros int64) string {
	sign, n := "", uint64(micros)
	if micros < 0 {
		sign, n = "-", -n
	}
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, n/3_600_000_000, n/60_000_000%60, n/1_000_000%60)
	if n %= 1_000_000; n != 0 {
		text += fmt.Sprintf(".%06d", n)
	}
	return text
}

// bytesText writes a UUID in its usual form and a BLOB as DuckDB does, with \xHH for bytes that cannot be printed.
func bytesText(b []byte, duckType string) string {
	if duckType == "UUID" && len(b) == 16 {
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	var s strings.Builder
	for _, c := range b {
		if c < ' ' || c > '~' || c == '\\' || c == '\'' || c == '"' {
			fmt.Fprintf(&s, `\x%02X`, c)
			continue
		}
		s.WriteByte(c)
	}
	return s.String()
}

// keyText writes a value of Rows.Next as a key of an object: text as it is, NULL empty, anything else as JSON.
func keyText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
