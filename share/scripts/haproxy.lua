-- http_req_rate of HAProxy, two counters: window/haproxy.go
--
-- s.level: when the phase began; s.extra: the requests in it. Those in the phase before are in the field "before".

local count, period = limit[own + 1], limit[own + 2] -- requests, milliseconds
local millisecond = 1000
local length = period * millisecond
local most = 2^31 - 1 -- requests in a phase

local before -- requests in the phase before; nil: not read yet

local function read_before()
  before = before or tonumber(redis.call('HGET', key, 'before') or 0)
end

-- phases begin in even milliseconds.
local function even(t) return t - t % (2 * millisecond) end

-- the next phase, or the first again, when this one is over
local function turn()
  local elapsed = s.at - s.level
  if elapsed >= 2 * length then
    before, s.extra, s.level = 0, 0, even(s.at)
  elseif elapsed >= length then
    before, s.extra, s.level = math.min(s.extra, most), 0, s.level + even(length)
  end
end

local function judge(t)
  read_before()
  if not s.at then s.level = even(t) end
  s.at = math.max(s.at or t, t)
  turn()
  local share = before * (period - floor_div(s.at - s.level, millisecond))
  local refused = share >= (count - s.extra) * period
  s.extra = math.min(s.extra + 1, most)
  return refused, 0
end

local function forget() s.level, s.extra, before = 0, 0, 0 end
restore = function(seed)
  s.at, s.level, s.extra, before = seed.at, seed.level, seed.extra, seed.high
end

recall = function(origin)
  read_before()
  return {s.level - origin, s.extra, before}
end

local function finish()
  if before then redis.call('HSET', key, 'before', text(before)) end
end
