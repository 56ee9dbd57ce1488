// Package contrib embeds the JSON schema of shadow.yaml, which editors and the program check configurations by.
package contrib

import _ "embed"

// Schema is the JSON schema of shadow.yaml.
//
//go:embed shadow.schema.json
var Schema []byte
