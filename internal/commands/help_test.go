package commands

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shadow/internal/commands/help"
	"shadow/report"
)

// The help on the configuration shows every key that editors know.
func TestHelpConfigShowsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../contrib/shadow.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	keys := propertiesOf(schema)
	if len(keys) < 30 {
		t.Fatalf("the schema has %d keys", len(keys))
	}
	words := regexp.MustCompile(`[\w-]+`).FindAllString(help.Config, -1)
	for _, key := range keys {
		if !slices.Contains(words, key) {
			t.Errorf("shadow help config does not show %s", key)
		}
	}
}

// propertiesOf returns the names of all properties of a JSON schema.
func propertiesOf(node any) (names []string) {
	switch node := node.(type) {
	case map[string]any:
		if properties, ok := node["properties"].(map[string]any); ok {
			for name := range properties {
				names = append(names, name)
			}
		}
		for _, child := range node {
			names = append(names, propertiesOf(child)...)
		}
	case []any:
		for _, child := range node {
			names = append(names, propertiesOf(child)...)
		}
	}
	return names
}

// The help on conditions lists whatever they may name.
func TestHelpFailIfListsEveryName(t *testing.T) {
	listed := regexp.MustCompile(`\w+`).FindAllString(help.FailIf(), -1)
	for _, name := range report.ConditionNames() {
		if !slices.Contains(listed, name) {
			t.Errorf("shadow help fail-if does not list %s", name)
		}
	}
	for line := range strings.Lines(help.FailIf()) {
		if len(line) > 140 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
}
