package main

// node lists the limiters of npm.
var node = []row{
	{
		"express-6-30s", "express-rate-limit", "express-rate-limit 8.7.5",
		"limit: 6, windowMs: 30_000", "express-rate-limit:6/30s",
		"node.js express 6 30000",
	},
	{
		"express-20-2s", "express-rate-limit", "express-rate-limit 8.7.5",
		"limit: 20, windowMs: 2000", "express-rate-limit:20/2s",
		"node.js express 20 2000",
	},
	{
		"flexible-6-30s", "rate-limiter-flexible", "rate-limiter-flexible 11.4.0, memory",
		"points: 6, duration: 30", "rate-limiter-flexible:6/30s",
		"node.js flexible 6 30000",
	},
	{
		"flexible-60-1m-block", "rate-limiter-flexible", "rate-limiter-flexible 11.4.0, memory",
		"points: 60, duration: 60, blockDuration: 120", "rate-limiter-flexible:60/1m,block=2m",
		"node.js flexible 60 60000 120",
	},
	{
		"fastify-6-30s", "@fastify/rate-limit", "@fastify/rate-limit 11.2.0, LocalStore",
		"max: 6, timeWindow: 30_000", "fastify-rate-limit:6/30s",
		"node.js fastify 6 30000",
	},
	{
		"fastify-20-2s-continue", "@fastify/rate-limit", "@fastify/rate-limit 11.2.0, LocalStore",
		"max: 20, timeWindow: 2000, continueExceeding: true", "fastify-rate-limit:20/2s,continue",
		"node.js fastify 20 2000 continueExceeding",
	},
	{
		"nestjs-6-30s", "NestJS, @nestjs/throttler", "@nestjs/throttler 6.7.1",
		"limit: 6, ttl: 30_000", "nestjs-throttler:6/30s", "node.js nestjs 6 30000",
	},
	{
		"nestjs-6-30s-block", "NestJS, @nestjs/throttler", "@nestjs/throttler 6.7.1",
		"limit: 6, ttl: 30_000, blockDuration: 60_000", "nestjs-throttler:6/30s,block=1m", "node.js nestjs 6 30000 60000",
	},
	{
		"hono-6-30s", "hono-rate-limiter", "hono-rate-limiter 0.5.4, memory",
		"limit: 6, windowMs: 30_000", "hono-rate-limiter:6/30s", "node.js hono 6 30000",
	},
	{
		"hono-20-2s", "hono-rate-limiter", "hono-rate-limiter 0.5.4, memory",
		"limit: 20, windowMs: 2000", "hono-rate-limiter:20/2s", "node.js hono 20 2000",
	},
	{
		"koa-6-30s", "koa-ratelimit", "koa-ratelimit 6.0.0, memory",
		"max: 6, duration: 30_000", "koa-ratelimit:6/30s", "node.js koa 6 30000",
	},
	{
		"koa-20-2s", "koa-ratelimit", "koa-ratelimit 6.0.0, memory",
		"max: 20, duration: 2000", "koa-ratelimit:20/2s", "node.js koa 20 2000",
	},
	{
		"npm-limiter-6-30s", "limiter of npm, RateLimiter", "limiter 4.1.0",
		"tokensPerInterval: 6, interval: 30_000", "npm-limiter:6/30s", "node.js limiter 6 30000",
	},
	{
		"npm-limiter-10-1s", "limiter of npm, RateLimiter", "limiter 4.1.0",
		`tokensPerInterval: 10, interval: "second"`, "npm-limiter:10/s", "node.js limiter 10 1000",
	},
	{
		"upstash-fixed-20-2s", "@upstash/ratelimit", "@upstash/ratelimit 2.2.0, Redis 7.0.15",
		`fixedWindow(20, "2 s"), ephemeralCache: false`, "upstash-ratelimit:20/2s,window=fixed",
		"node.js upstash 20 2000 fixedWindow",
	},
	{
		"upstash-sliding-6-30s", "@upstash/ratelimit", "@upstash/ratelimit 2.2.0, Redis 7.0.15",
		`slidingWindow(6, "30 s"), ephemeralCache: false`, "upstash-ratelimit:6/30s,window=sliding",
		"node.js upstash 6 30000 slidingWindow",
	},
	{
		"upstash-cache-20-2s", "@upstash/ratelimit", "@upstash/ratelimit 2.2.0, Redis 7.0.15",
		`slidingWindow(20, "2 s")`, "upstash-ratelimit:20/2s,window=sliding", "node.js upstash 20 2000 slidingWindow+cache",
	},
	{
		"upstash-token-6-30s", "@upstash/ratelimit", "@upstash/ratelimit 2.2.0, Redis 7.0.15",
		`tokenBucket(6, "30 s", 20), ephemeralCache: false`, "upstash-ratelimit:6/30s,window=token,burst=20",
		"node.js upstash 6 30000 tokenBucket 20",
	},
}
