// Package escape makes texts of strangers harmless: a text from a log comes in, one that a terminal may show goes out.
package escape
