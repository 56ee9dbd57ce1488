// Package useragent tells what a user agent claims to be: names of agents come in, and their ids and classes go out.
package useragent
