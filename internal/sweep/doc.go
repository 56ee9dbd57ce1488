// Package sweep tries every limit of a shape (an algorithm and a period) at once. Batches of requests come in. Out come
// curves: for every limit, how many requests it refuses and which classes of clients it hits.
package sweep
