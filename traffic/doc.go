// Package traffic turns the lines of logs into columns of integers: blocks of lines come in, a Batch of requests
// goes out, in which the client, its agent, the action and the host are dense ids of dictionaries. It puts requests
// back in time order, says who a client is, what an action is, and what class of software an agent claims to be.
package traffic
