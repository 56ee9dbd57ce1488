package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
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
