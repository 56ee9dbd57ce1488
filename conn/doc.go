// Package conn has limits on how many requests are under way at once: a limit.Spec comes in, a limit.Limiter goes out.
package conn
