// Package tail follows logs that grow: lines come in as servers write them, across rotation, truncation and restarts, and
// would-blocks, running numbers and metrics go out. It judges with the loop of replay, fed by a clock as well as by lines.
package tail
