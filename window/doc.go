// Package window has the windows: a limit.Spec comes in, a limit.Limiter goes out.
package window
