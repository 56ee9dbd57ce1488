package format

import "fmt"

// A Schema is the name and the version of a kind of object in JSON. Every object that the program prints begins with its
// schema, as in "schema": "shadow.report/1"; contrib/schemas has a JSON Schema for each.
type Schema uint8

// The schemas. Most are called after the command that prints them.
const (
	CalcSchema Schema = iota
	CalibrateSchema
	CheckConfigSchema
	ConfigSchema
	DiffSchema
	DoctorSchema
	DrillSchema
	ExplainSchema
	ExportSchema // of migrate as well
	FormatsSchema
	ImportSchema
	KeysSchema
	LimitsSchema
	LimitsExplainSchema
	MergeSchema
	ParseSchema
	QuerySchema
	ReportSchema // of replay as well
	RunsSchema
	RunsDeleteSchema
	SuggestSchema
	SweepSchema
	TailSchema       // a line
	VerdictSchema    // a line
	WouldBlockSchema // a line
	VersionSchema
	schemaCount
)

var schemaNames = [schemaCount]string{
	"calc", "calibrate", "check-config", "config", "diff", "doctor", "drill", "explain", "export", "formats", "import", "keys", "limits",
	"limits.explain", "merge", "parse", "query", "report", "runs", "runs.delete", "suggest", "sweep", "tail", "verdict",
	"would-block", "version",
}

// Schemas are all there are.
func Schemas() (all []Schema) {
	for s := range schemaCount {
		all = append(all, s)
	}
	return all
}

// Name is the schema's name without what all have in common: report.
func (s Schema) Name() string { return schemaNames[s] }

// String returns name and version: shadow.report/1.
func (s Schema) String() string { return fmt.Sprintf("shadow.%s/1", s.Name()) }

// Key returns the beginning of an object of the schema, without the brace.
func (s Schema) Key() string { return fmt.Sprintf(`"schema":%q,`, s) }
