// Package network tells of addresses who runs their network, in which country, and whether they are those of a crawler,
// by files that the user has. No such data is shipped.
package network

// Known holds the user's files about addresses. The zero Known has none.
type Known struct {
	Owners   *Database
	Crawlers *Crawlers
}
