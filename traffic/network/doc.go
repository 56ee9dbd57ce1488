// Package network tells of addresses who runs their network, in which country, and whether they are those of a crawler,
// by files that the user has. No such data is shipped.
package network

// Known is what files of the user tell of addresses. The zero Known: nothing.
type Known struct {
	Owners   *Database
	Crawlers *Crawlers
}
