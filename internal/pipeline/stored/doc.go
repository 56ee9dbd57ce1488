// Package stored takes in the database of runs and a question about it; out come reports on what runs found and on what
// has changed, and a database with fewer runs or with those of several.
package stored
