// Package leaky has the leaky bucket family: a limit.Spec comes in, a limit.Limiter goes out.
package leaky
