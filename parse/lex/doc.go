// Package lex reads what texts of logs consist of: numbers, escapes, and where quotes and the ends of lines stand.
package lex
