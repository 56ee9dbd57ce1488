// Package bucket has the token bucket family: a limit.Spec comes in, a limit.Limiter goes out.
package bucket
