package duck

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"
)

// Settings are names and values, in the order in which DuckDB takes them: what forbids others stands last.
type Settings [][2]string

// NoExtensions are settings that others begin with.
var NoExtensions = Settings{{"autoinstall_known_extensions", "false"}, {"autoload_known_extensions", "false"}}

// The way back: answers to questions of ours, row by row.

// A field is a place in a row of Go that a column of an answer goes to.
type field struct {
	kind   reflect.Kind
	offset uintptr
}

// fieldsOf are the fields of a type in their order, those of structures and arrays in it one by one.
func fieldsOf(t reflect.Type, offset uintptr) (all []field) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			all = append(all, fieldsOf(t.Field(i).Type, offset+t.Field(i).Offset)...)
		}
	case reflect.Array:
		for i := range t.Len() {
			all = append(all, fieldsOf(t.Elem(), offset+uintptr(i)*t.Elem().Size())...)
		}
	default:
		all = []field{{t.Kind(), offset}}
	}
	return all
}

// Each asks a question of ours, in which nothing may stand that comes from a log, and hands over the answer row by
// row: each column in a field of T, in their order. NULL is the zero value. The row is valid until the next, what it
// refers to for good.
func Each[T any](d *Conn, query string, take func(*T) error) error {
	err := context.Cause(d.ctx)
	if err == nil {
		var row, zero T
		err = d.scan(query, fieldsOf(reflect.TypeFor[T](), 0), unsafe.Pointer(&row), func() error {
			err := take(&row)
			row = zero
			return err
		})
	}
	if cause := context.Cause(d.ctx); cause != nil {
		return cause
	}
	if err != nil && d.Name != "" {
		return fmt.Errorf("database %s: %w", d.Name, err)
	}
	return err
}

// List is an answer as a whole.
func List[T any](d *Conn, query string) (all []T, err error) {
	err = Each(d, query, func(row *T) error {
		all = append(all, *row)
		return nil
	})
	return all, err
}

// One is an answer of one row.
func One[T any](d *Conn, query string) (row T, err error) {
	err = Each(d, query, func(r *T) error {
		row = *r
		return nil
	})
	return row, err
}
