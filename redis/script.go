package redis

import (
	"embed"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A script is one Lua file per algorithm between two that all have in common; see scripts/begin.lua.

//go:embed scripts/*.lua
var files embed.FS

// loadScript is the script of an algorithm, and whether there is one.
func loadScript(name string) (*redis.Script, bool) {
	var text strings.Builder
	for _, part := range []string{"begin", name, "end"} {
		content, err := files.ReadFile("scripts/" + part + ".lua")
		if err != nil {
			return nil, false
		}
		text.Write(content)
	}
	return redis.NewScript(text.String()), true
}
