// Package objecttest serves objects on loopback to tests: an S3 server that checks signatures, and whose answers can be
// made to fail. It needs the build tag "cloud", as what it tests does.
package objecttest
