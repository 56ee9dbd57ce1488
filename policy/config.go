package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// A configuration is YAML, read strictly: what it says and we do not know is an error, with its place.
//
//	actions:
//	  - name: login
//	    method: POST
//	    prefix: /account/login
//	  - name: search
//	    method: [GET, HEAD]
//	    glob: /*/search
//	  - name: listing
//	    regexp: ^/(shop|store)/[0-9]+$

// A Config is what shadow.yaml says.
type Config struct {
	Actions []ActionRule // in the order of the file: the first that matches wins
}

// An ActionRule names the requests whose method and path it matches. Exactly one of Prefix, Glob and Regexp is set.
type ActionRule struct {
	Name    string
	Methods []string // in upper case; none means all
	Prefix  string
	Glob    string
	Regexp  string
}

// LoadConfig reads the configuration file at path. An empty file is a Config that says nothing.
func LoadConfig(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	return ParseConfig(path, text)
}

// ParseConfig reads a configuration; name is what errors call it.
func ParseConfig(name string, text []byte) (Config, error) {
	if err := tooDeep(text); err != nil {
		return Config{}, placed(name, err)
	}
	var file configFile
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, placed(name, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("%s: holds more than one document; want one", name)
	}
	var config Config
	for i := range file.Actions {
		rule, err := file.Actions[i].rule()
		if err != nil {
			return Config{}, placed(name, err)
		}
		config.Actions = append(config.Actions, rule)
	}
	return config, nil
}

// maxDepth is how deep lists and brackets may nest. The parser takes memory with the square of that, 15 GB for 100 kB of
// dashes; a configuration needs two.
const maxDepth = 50

// tooDeep is the error of a text that nests deeper. A dash is nested no deeper than its column says; a mapping without
// brackets takes a line with a larger indent for each level, so a short one cannot be deep.
func tooDeep(text []byte) error {
	depth := 0
	for _, t := range lexer.Tokenize(string(text)) {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > maxDepth || t.Type == token.SequenceEntryType && t.Position.Column > 2*maxDepth {
			return fault(t, "nests too deep")
		}
	}
	return nil
}
