// Package traffic holds requests as columns of integers: a Batch, in which the client, its agent, the action and the host
// are dense ids of dictionaries, comes in, and goes out sorted into the timelines of keys. It writes rows and names to
// checkpoints, and reads them back.
package traffic
