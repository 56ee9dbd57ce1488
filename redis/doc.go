// Package redis keeps the state of limits in Redis, where many hosts count together. Batches of timelines come in;
// verdicts on what all hosts have seen go out. While Redis does not answer, each host is told to decide for itself.
package redis
