// Package redis keeps the state of limits in Redis, where many hosts count together. Batches of timelines come in;
// verdicts that no host could have reached alone go out, or, while Redis does not answer, the word to decide locally.
package redis
