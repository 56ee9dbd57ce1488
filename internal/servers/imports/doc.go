// Package imports reads what servers are told of limits: a configuration comes in, and what goes out is a shadow.yaml
// with the same limits, each with its file and line, and what was not understood.
package imports
