// Package enforced takes in a question about logs of a server that has refused requests, or says which it would have
// refused: with which limit, and what its clients did then. Out comes a report.
package enforced
