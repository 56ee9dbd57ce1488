// Package cputime measures how long the program, or a thread of it, has kept processors busy.
package cputime
