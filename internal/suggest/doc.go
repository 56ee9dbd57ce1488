// Package suggest takes in the curves of a sweep, what evidence says of clients, and a promise, such as that 99.9 % of
// browsers are not hit. Out comes, for each curve, the strictest limit that keeps the promise, with its price.
package suggest
