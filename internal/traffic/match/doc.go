// Package match says which client sent a request, and which action it is: records come in; clients, actions, tiers and
// the marks of scopes go out.
package match
