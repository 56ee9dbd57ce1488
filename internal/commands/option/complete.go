package option

import (
	"strings"

	"github.com/spf13/cobra"

	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/stored"
	"shadow/internal/policy"
	"shadow/internal/store"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report"
)

// What the shell completes flags to, when the user presses Tab.

// CompleteWords makes the shell complete a flag to one of some words, if there are any.
func CompleteWords(cmd *cobra.Command, flag string, words ...string) {
	if len(words) == 0 {
		return
	}
	complete(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// complete completes a flag.
func complete(cmd *cobra.Command, flag string, by cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}

// CompleteLimits completes what stands before the colon of a limit and, behind a comma, the options of its algorithm.
func CompleteLimits(_ *cobra.Command, _ []string, begun string) (words []string, _ cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	comma := strings.LastIndexByte(begun, ',') + 1
	last := begun[strings.LastIndexByte(begun, '+')+1:] // of several limits
	name, given, found := strings.Cut(last, ":")
	if found && (name == "each" || name == "in-turn") {
		name, given, _ = strings.Cut(given, ":")
	}
	if !strings.Contains(last, ",") {
		words = mapped.Add(words, policy.LimitNames(), func(name string) string { return name + ":" })
		return words, more
	}
	for _, option := range optionsOf(name) {
		if key, _, _ := strings.Cut(option, "="); !strings.Contains(given, ","+key) {
			words = append(words, begun[:comma]+option)
		}
	}
	return words, more
}

// optionsOf returns the options of an algorithm, or of the name of a library, as they begin: burst=, refill=step.
func optionsOf(name string) (words []string) {
	text := limit.Common
	for _, a := range policy.Algorithms {
		if a.Name == name {
			text = a.Options + ", " + text
		}
	}
	for _, p := range policy.Presets {
		if p.Name == name {
			text = p.Options + ", " + text
		}
	}
	for option := range strings.SplitSeq(text, ", ") {
		key, value, takes := strings.Cut(strings.TrimSpace(option), "=")
		switch {
		case key == "":
		case strings.HasSuffix(key, "["): // debt[=N]
			words = append(words, strings.TrimSuffix(key, "["))
		case !takes:
			words = append(words, key)
		case strings.ToLower(value) == value && !strings.ContainsAny(value, "[]"): // even|step
			for word := range strings.SplitSeq(value, "|") {
				words = append(words, key+"="+word)
			}
		default:
			words = append(words, key+"=")
		}
	}
	return words
}

// CompleteTables completes the last word of a question to the tables and views of the database.
func CompleteTables(from *stored.Database) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) (words []string, _ cobra.ShellCompDirective) {
		const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		if len(args) > 0 {
			return nil, more
		}
		rows, err := store.Query(cmd.Context(), from.Path, "SELECT table_name FROM information_schema.tables ORDER BY ALL", store.QueryOptions{})
		if err != nil {
			return nil, more
		}
		defer rows.Close() //nolint:errcheck // it has no error
		head := begun[:strings.LastIndexByte(begun, ' ')+1]
		for {
			row, err := rows.Next()
			if err != nil {
				return words, more
			}
			words = append(words, head+row[0].(string))
		}
	}
}

// AddLimitCompletion completes a flag that takes limits.
func AddLimitCompletion(cmd *cobra.Command) { complete(cmd, "limit", CompleteLimits) }

// CompleteConfigured completes the flags of all commands that take names: those of the configuration in force, of
// conditions, and of clients that a promise is about.
func CompleteConfigured(root *cobra.Command) {
	const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // the name is not all
	for _, cmd := range root.Commands() {
		offer := func(flag string, directive cobra.ShellCompDirective, names func() []string) {
			if _, known := cmd.GetFlagCompletionFunc(flag); !known && cmd.Flags().Lookup(flag) != nil {
				complete(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
					return names(), directive
				})
			}
		}
		config := func() (policies, actions []string) {
			name, _ := cmd.Flags().GetString("config") // it has none: the one in the folder
			return (&pipeline.Source{ConfigFile: name}).Names()
		}
		offer("fail-if", more, report.ConditionNames)
		if cmd.Name() != "migrate" { // there they are those of a server
			offer("policy", cobra.ShellCompDirectiveNoFileComp, func() []string { policies, _ := config(); return policies })
		}
		offer("action", cobra.ShellCompDirectiveNoFileComp, func() []string { _, actions := config(); return actions })
		offer("target", more, who.Words)
		offer("protect", more, func() (goals []string) {
			goals = mapped.Add(goals, who.Words(), func(word string) string { return word + "=" })
			return goals
		})
	}
}
