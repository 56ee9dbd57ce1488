// Package mapped makes one list of another: values and a function come in, what the function returns of each goes out.
package mapped

import "slices"

// Of returns what f returns of each value, in their order; an empty list where there are none.
func Of[T, U any](values []T, f func(T) U) []U { return Add(make([]U, 0, len(values)), values, f) }

// Rows returns the places of the values that fit, in their order.
func Rows[T any](values []T, fits func(T) bool) (rows []int32) {
	for row, v := range values {
		if fits(v) {
			rows = append(rows, int32(row))
		}
	}
	return rows
}

// Add appends what f returns of each value.
func Add[T, U any](to []U, values []T, f func(T) U) []U {
	to = slices.Grow(to, len(values))
	for _, v := range values {
		to = append(to, f(v))
	}
	return to
}
