// Package sharded packs logs into shards, judges shards, and adds up what they come to: the three steps of a replay that many
// hosts share. The question comes in as the fields that flags set, as in package pipeline.
package sharded
