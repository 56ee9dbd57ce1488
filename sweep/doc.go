// Package sweep answers what any limit of a shape would do, all limits at once: batches of requests come in, and out come
// curves that say for every limit how many requests it refuses and which classes of clients it hits.
package sweep
