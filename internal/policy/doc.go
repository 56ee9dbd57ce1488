// Package policy is the one place that knows every limiter. What people write comes in (texts of limits, lists and
// ranges of them, a YAML file); policies that replay can judge go out.
package policy
