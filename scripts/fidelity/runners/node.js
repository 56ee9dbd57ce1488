// Runs limiters of npm on a schedule: node node.js KIND COUNT PERIOD_MS [OPTION] < schedule > verdicts
// It finds the packages in the folder that NODE_PATH names.
'use strict'
const fs = require('fs')
const os = require('os')
const path = require('path')
const fake = require('@sinonjs/fake-timers')

const [kind, count, period, option, most] = process.argv.slice(2)
const max = Number(count)
const ms = Number(period)
const lines = fs.readFileSync(0, 'latin1').trimEnd().split('\n').map(line => line.split(' '))
const start = Math.floor(Number(lines[0][0]) / 1000)
let micros = start * 1000
const clock = fake.install({
  now: start,
  shouldClearNativeTimers: true,
  toFake: ['Date', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval']
})
performance.now = () => (micros - start * 1000) / 1000
process.hrtime.bigint = () => BigInt(micros - start * 1000) * 1000n
process.hrtime = Object.assign(() => {
  const since = micros - start * 1000
  return [Math.floor(since / 1e6), since % 1e6 * 1000]
}, process.hrtime)

// A Redis whose clock moves with this one, as a client of @upstash/redis.
let moved = () => {}
async function redis () {
  const { execFileSync, spawn } = require('child_process')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fidelity-'))
  const socket = path.join(folder, 'socket')
  execFileSync('cc', ['-shared', '-fPIC', '-o', path.join(folder, 'clock.so'), path.join(__dirname, 'clock.c')])
  const file = fs.openSync(path.join(folder, 'clock'), 'w+')
  const bytes = Buffer.alloc(8)
  moved = () => {
    bytes.writeBigInt64LE(BigInt(micros))
    fs.writeSync(file, bytes, 0, 8, 0)
  }
  moved()
  const env = { ...process.env, LD_PRELOAD: path.join(folder, 'clock.so'), FIDELITY_CLOCK: path.join(folder, 'clock') }
  const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', ''], { env, stdio: 'ignore' })
  process.on('exit', () => {
    server.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true })
  })
  while (!fs.existsSync(socket)) await new Promise(resolve => setImmediate(resolve))
  const client = new (require('ioredis'))({ path: socket })
  return {
    evalsha () { throw new Error('NOSCRIPT') },
    eval (script, keys, args) { return client.eval(script.replace(/^#!.*/, ''), keys.length, ...keys, ...args) } // a flag of Upstash
  }
}

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
    const Store = require(require.resolve('@fastify/rate-limit').replace(/index\.js$/, 'store/LocalStore.js'))
    const store = new Store(option === 'continueExceeding', false, 5000)
    return client => new Promise(resolve => {
      store.incr(client, (_, { current }) => resolve(current <= max), ms, max)
    })
  },
  nestjs () {
    const { ThrottlerStorageService } = require('@nestjs/throttler/dist/throttler.service.js')
    const storage = new ThrottlerStorageService()
    return async client => !(await storage.increment(client, ms, max, Number(option || ms), 'default')).isBlocked
  },
  hono () {
    const middleware = require('hono-rate-limiter').rateLimiter({ windowMs: ms, limit: max, keyGenerator: c => c.client })
    return async client => {
      let admitted = false
      await middleware({ client, set () {}, header () {}, status () {}, text () {} }, () => { admitted = true })
      return admitted
    }
  },
  koa () {
    const middleware = require('koa-ratelimit')({ driver: 'memory', db: new Map(), duration: ms, max, id: c => c.client })
    return async client => {
      let admitted = false
      await middleware({ client, state: {}, set () {} }, () => { admitted = true })
      return admitted
    }
  },
  limiter () {
    const { RateLimiter } = require('limiter')
    const all = {}
    return client => {
      all[client] ??= new RateLimiter({ tokensPerInterval: max, interval: ms })
      return all[client].tryRemoveTokens(1)
    }
  },
  async upstash () {
    const { Ratelimit } = require('@upstash/ratelimit')
    const [kind, cached] = option.split('+')
    const ephemeralCache = cached ? undefined : false
    const limiter = new Ratelimit({ redis: await redis(), limiter: Ratelimit[kind](max, ms + ' ms', Number(most)), timeout: 0, ephemeralCache })
    return async client => (await limiter.limit(client)).success
  }
}

async function main () {
  const ask = await limiters[kind]()
  let out = ''
  for (const [at, client] of lines) {
    micros = Number(at)
    clock.tick(Math.floor(micros / 1000) - Date.now())
    moved()
    out += await ask(client) ? '1' : '0'
  }
  process.stdout.write(out + '\n', () => process.exit())
}

main().catch(err => { console.error(err); process.exitCode = 1 })
