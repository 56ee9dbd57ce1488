// Package contrib embeds the JSON schema of shadow.yaml, which editors and the program check configurations by, and the
// crontab of a night.
package contrib

import _ "embed"

// Schema is the JSON schema of shadow.yaml.
//
//go:embed shadow.schema.json
var Schema []byte

// Crontab has shadow-night run by cron.
//
//go:embed nightly/crontab
var Crontab string
