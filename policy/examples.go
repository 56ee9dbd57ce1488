package policy

// Example is a limit with this algorithm, as help shows it.
func (a Algorithm) Example() string { return examples[a.Name] }

// examples has one for each of Algorithms.
var examples = map[string]string{
	"token":  "token:6/30s,burst=10",
	"leaky":  "leaky:6/30s,drip=30s",
	"window": "window:10000/24h",
}
