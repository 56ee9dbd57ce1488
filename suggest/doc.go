// Package suggest takes in the curves of a sweep, what evidence says of clients, and a promise, such as that 99.9 % of
// browsers are left alone; out comes the strictest limit of each curve that keeps it, with its price.
package suggest
