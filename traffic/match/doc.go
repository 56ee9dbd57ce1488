// Package match says whose and what a request is: records come in; clients, actions, tiers and the marks of scopes go out.
package match
