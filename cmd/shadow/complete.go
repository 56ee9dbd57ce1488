package main

import (
	"github.com/spf13/cobra"

	"shadow/pipeline"
	"shadow/policy"
	"shadow/report"
	"shadow/suggest"
)

// What the shell completes flags to, when somebody presses Tab.

// completeWords makes the shell complete a flag to one of some words, if there are any.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	if len(words) == 0 {
		return
	}
	complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}

// completeLimits completes what stands before the colon of a limit.
func completeLimits(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
	for _, name := range policy.LimitNames() {
		names = append(names, name+":")
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// addLimitCompletion completes a flag that takes limits.
func addLimitCompletion(cmd *cobra.Command) {
	if err := cmd.RegisterFlagCompletionFunc("limit", completeLimits); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}

// completeConfigured completes the flags of all commands that take names: those of the configuration in force, of
// conditions, and of clients that a promise is about.
func completeConfigured(root *cobra.Command) {
	const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // the name is not all
	for _, cmd := range root.Commands() {
		complete := func(flag string, directive cobra.ShellCompDirective, names func() []string) {
			if _, known := cmd.GetFlagCompletionFunc(flag); known || cmd.Flags().Lookup(flag) == nil {
				return
			}
			err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return names(), directive
			})
			if err != nil {
				panic(err) // the flag does not exist: a mistake in this program
			}
		}
		config := func() (policies, actions []string) {
			name, _ := cmd.Flags().GetString("config") // it has none: the one in the folder
			return (&pipeline.Source{ConfigFile: name}).Names()
		}
		complete("fail-if", more, report.ConditionNames)
		if cmd.Name() != "migrate" { // there they are those of a server
			complete("policy", cobra.ShellCompDirectiveNoFileComp, func() []string { policies, _ := config(); return policies })
		}
		complete("action", cobra.ShellCompDirectiveNoFileComp, func() []string { _, actions := config(); return actions })
		complete("protect", more, func() (goals []string) {
			for _, who := range suggest.Words() {
				goals = append(goals, who+"=")
			}
			return goals
		})
	}
}
