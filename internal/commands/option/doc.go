// Package option is what flags of commands have in common: values of domains, what flags need beside them, where their
// defaults come from, and how shells complete them.
package option
