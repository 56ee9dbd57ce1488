// Package request has the words that limits and logs share for requests: what limits count by, what an agent claims to
// be, which requests are meant, which clients, and what their actions are called. It reads no request and judges none.
package request
