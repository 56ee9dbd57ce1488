// Runs limiters of npm on a schedule: node node.js KIND COUNT PERIOD_MS [OPTION] < schedule > verdicts
// It finds the packages in the folder that NODE_PATH names.
'use strict'
const fs = require('fs')
const fake = require('@sinonjs/fake-timers')

const [kind, count, period, option] = process.argv.slice(2)
const max = Number(count)
const ms = Number(period)
const lines = fs.readFileSync(0, 'latin1').trimEnd().split('\n').map(line => line.split(' '))
const clock = fake.install({
  now: Math.floor(Number(lines[0][0]) / 1000),
  toFake: ['Date', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval']
})

const limiters = {
  // The middleware itself, with its MemoryStore.
  express () {
    const { rateLimit } = require('express-rate-limit')
    const middleware = rateLimit({ windowMs: ms, limit: max, keyGenerator: req => req.client, validate: false })
    return async client => {
      let admitted = false
      const response = {
        setHeader () {}, removeHeader () {}, on () {}, once () {}, status () { return this }, send () {}, headersSent: false
      }
      await middleware({ client, headers: {}, app: { get () {} } }, response, () => { admitted = true })
      return admitted
    }
  },
  flexible () {
    const { RateLimiterMemory } = require('rate-limiter-flexible')
    const limiter = new RateLimiterMemory({ points: max, duration: ms / 1000, blockDuration: Number(option || 0) })
    return client => limiter.consume(client).then(() => true, () => false)
  },
  // The plugin refuses when its store has counted more than max.
  fastify () {
    const path = require.resolve('@fastify/rate-limit').replace(/index\.js$/, 'store/LocalStore.js')
    const Store = require(path)
    const store = new Store(option === 'continueExceeding', false, 5000)
    return client => new Promise(resolve => {
      store.incr(client, (_, { current }) => resolve(current <= max), ms, max)
    })
  }
}

async function main () {
  const ask = limiters[kind]()
  let out = ''
  for (const [at, client] of lines) {
    clock.tick(Math.floor(Number(at) / 1000) - Date.now())
    out += await ask(client) ? '1' : '0'
  }
  process.stdout.write(out + '\n')
}

main().catch(err => { console.error(err); process.exitCode = 1 })
