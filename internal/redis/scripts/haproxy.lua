-- http_req_rate of HAProxy, two counters: window/haproxy.go, and window/haproxy_admitted.go where only admitted requests count
--
-- s.level: when the phase began; s.extra: the requests in it. Those in the phase before are in the field "before".

local count, period, admitted = limit[own + 1], limit[own + 2], limit[own + 3] == 1 -- requests, milliseconds
local expire = limit[own + 4] -- milliseconds
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

-- the rate as it is read without a request
local function rate()
  local elapsed, past, now = floor_div(s.at - s.level, millisecond), before, s.extra
  if elapsed > period then elapsed, past, now = elapsed - period, now, 0 end
  if elapsed > period then return 0 end
  if now == 0 and past <= 1 then return past end
  return now + floor_div(past * (period - elapsed), period)
end

local function judge(t)
  read_before()
  if s.at and expire > 0 and t - (s.at - s.at % millisecond) >= expire * millisecond then
    before, s.extra, s.at = 0, 0, nil
  end
  if not s.at then s.level = even(t) end
  s.at = math.max(s.at or t, t)
  if admitted and rate() >= count then return true, 0 end
  turn()
  if admitted then
    s.extra = s.extra + 1
    return false, 0
  end
  local share = before * (period - floor_div(s.at - s.level, millisecond))
  local refused = share >= (count - s.extra) * period
  s.extra = math.min(s.extra + 1, most)
  return refused, 0
end

local function forget() s.level, s.extra, before = 0, 0, 0 end
restore = function(memory)
  s.at, s.level, s.extra, before = memory.at, memory.level, memory.extra, memory.high
end

recall = function(origin)
  read_before()
  return {s.level - origin, s.extra, before}
end

local function finish()
  if before then redis.call('HSET', key, 'before', text(before)) end
end
