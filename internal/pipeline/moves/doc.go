// Package moves takes in limits and a server; out come lines for the server, and what moving to it changes for which
// clients.
package moves
