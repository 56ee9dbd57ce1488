// Package window has the limiters that count requests in a time: a limit.Spec comes in, a limit.Limiter goes out.
package window
