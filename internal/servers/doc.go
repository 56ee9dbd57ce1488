// Package servers knows what the limiters of servers offer: a limit and a place come in, and what goes out are the
// limits that a server has exactly, and the lines of its configuration for one of them.
package servers
