// Package objecttest serves objects on loopback to tests: an S3 server that checks signatures, and fakes of Google Cloud and
// Azure. Their answers can be made to fail.
package objecttest
