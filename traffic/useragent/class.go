package useragent

import "shadow/traffic/intern"

// A Class is what the user agent claims to be.
type Class uint8

// The classes, in the order in which reports show them.
const (
	Browser Class = iota
	Crawler       // declares itself as one
	Tool          // curl, python-requests and their like
	Monitor       // an uptime or health checker
	Unknown       // no agent, or none that we know
	ClassCount
)

var ClassNames = [ClassCount]string{"browser", "crawler", "tool", "monitor", "unknown"}

// String is the class in one lower-case word.
func (c Class) String() string { return ClassNames[c] }

// Classify tells what an agent claims to be. It believes every word: who lies is found by what they do. In this order:
//
//  1. Nothing, or "-", is unknown.
//  2. Patterns, those of the maintained list and ours: if any says monitor, it is one; else crawler; else tool.
//  3. A path or a URL in the place of an agent is no name, and says no more.
//  4. What it calls itself, when no pattern says more than tool: an "uptime" or "health check" is a monitor, a word
//     that ends in "bot", "crawler" or "spider" a crawler. Who names a library and itself is what it calls itself.
//  5. What no pattern knows: a "monitor"; with "+http" (where to read about it), or for subscribers, a crawler.
//  6. A browser has the shape of one: Mozilla and an engine or a platform, Opera, or one of the old and small ones.
//  7. What else gives an address in brackets is a crawler, and all the rest is unknown.
func Classify(agent []byte) Class {
	if len(agent) == 0 || string(agent) == "-" {
		return Unknown
	}
	agent = agent[:min(len(agent), intern.MaxName)]
	class := patterns().match(agent)
	if class == Monitor || class == Crawler {
		return class
	}
	var buf [intern.MaxName]byte
	words := intern.LowerASCII(buf[:0], agent)
	if isAddress(words) {
		return class
	}
	if c := calledItself(words); c != Unknown {
		return c
	}
	if class == Tool {
		return Tool
	}
	return guessed(words)
}
