// Package traffic holds requests as columns of integers. A Batch comes in and goes out sorted into the timelines of keys;
// its clients, agents, actions and hosts are dense ids of dictionaries. Rows and names go to checkpoints and come back.
package traffic
