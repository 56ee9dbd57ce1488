// Package object reads logs that lie in object stores: names such as s3://bucket/logs/2026-* come in, and what they
// stand for goes out, with readers of it.
//
//	name ─▶ Expand: pages of a listing ─▶ Info: size, version
//	Info ─▶ Reader: ranges, a few ahead, in order ─▶ bytes of that version, or an Error
//
// A range that breaks off is read on from where it stopped, a limited number of times. An object of another version than
// the listed one is an error. So what a Reader returns is the whole object, or it fails.
//
// The clients of the stores weigh more than the rest of the program, so they are no part of it: a program that has them
// registers them. Without any, names of files are read.
package object
