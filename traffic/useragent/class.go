package useragent

import (
	"shadow/request"
	"shadow/traffic/intern"
)

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
func Classify(agent []byte) request.Class {
	if len(agent) == 0 || string(agent) == "-" {
		return request.Unknown
	}
	agent = agent[:min(len(agent), intern.MaxName)]
	class := patterns().match(agent)
	if class == request.Monitor || class == request.Crawler {
		return class
	}
	var buf [intern.MaxName]byte
	words := intern.LowerASCII(buf[:0], agent)
	if isAddress(words) {
		return class
	}
	if c := calledItself(words); c != request.Unknown {
		return c
	}
	if class == request.Tool {
		return request.Tool
	}
	return guessed(words)
}
