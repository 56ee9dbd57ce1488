package useragent

import (
	"shadow/internal/request"
	"shadow/internal/traffic/intern"
)

// Two people have two browsers, and one person has a few, or a browser that is updated every month. So browsers are told
// apart by their family and platform, without versions.

// A family is known by its words. Browsers name those that they descend from, so that the first one that fits counts.
var kindFamilies = [][]string{
	{"opr/", "opera"}, {"edg"}, {"samsungbrowser"}, {"firefox/"}, {"msie ", "trident/"}, {"chrome/", "crios/"}, {"safari/"},
}

// kindPlatforms are looked for likewise: a telephone with Android says Linux as well.
var kindPlatforms = [][]string{{"android"}, {"iphone"}, {"ipad"}, {"windows"}, {"mac os"}, {"cros "}, {"linux"}}

// Kinds is the number of kinds of browsers: any other family, and any other platform, is one as well.
const Kinds = 64

// Kind numbers the browser that the agent with this id claims to be by its family and platform, below Kinds; −1 for other
// agents.
func (a *Agents) Kind(id int32) int {
	if a.Class(id) != request.Browser {
		return -1
	}
	var buf [intern.MaxName]byte
	name := a.dict.Bytes(id)
	words := intern.LowerASCII(buf[:0], name[:min(len(name), intern.MaxName)])
	return firstOf(words, kindFamilies)*(len(kindPlatforms)+1) + firstOf(words, kindPlatforms)
}

// firstOf returns the index of the first of some lists a word of which a text holds, or how many there are.
func firstOf(text []byte, lists [][]string) int {
	for i, words := range lists {
		if holdsAny(text, words...) {
			return i
		}
	}
	return len(lists)
}
