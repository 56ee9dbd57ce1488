-- The exact rolling window: window/rolling.go, window/attempts.go where refused requests count as well, and window/caddy.go
-- where a request in the last microsecond of the oldest is admitted and not kept
--
-- The hash holds the times inside the window, each in a field that is called by its number:
--   s.level  how many times have ever been kept: the number of the latest
--   s.extra  how many of them have run out: the earliest that is left has the next number

local count, length, all, edge = limit[own + 1], limit[own + 2], limit[own + 3] == 1, limit[own + 4] == 1

local times = {} -- by number, those that have been read or are new
local stored     -- before this call: the first and the last number in the hash

local function time_of(n)
  if not times[n] then times[n] = tonumber(redis.call('HGET', key, text(n))) end
  return times[n]
end

local function forget()
  stored = stored or {s.extra + 1, s.level}
  s.extra = s.level
end

restore = function(memory)
  forget()
  s.at = memory.at
  for _, t in ipairs(memory.times) do
    s.level = s.level + 1
    times[s.level] = t
  end
end

local most_sent = 256 -- times

recall = function(origin)
  if s.level - s.extra > most_sent then return nil end
  local all = {1, 0, 0}
  for n = s.extra + 1, s.level do table.insert(all, time_of(n) - origin) end
  return all
end

local function judge(t)
  stored = stored or {s.extra + 1, s.level}
  s.at = math.max(s.at or t, t)
  while s.extra < s.level and s.at - time_of(s.extra + 1) >= length do s.extra = s.extra + 1 end
  local full = s.level - s.extra >= count
  if full and edge and s.at - time_of(s.extra + 1) == length - 1 then return false, 0 end
  if full and all then s.extra = s.extra + 1 end
  if not full or all then
    s.level = s.level + 1
    times[s.level] = s.at
  end
  return full, 0
end

-- field after field, in portions, since a call takes only so many arguments.
local function each(command, first, last, arguments)
  for from = first, last, 1000 do
    local list = {}
    for n = from, math.min(from + 999, last) do arguments(list, n) end
    redis.call(command, key, unpack(list))
  end
end

local function finish()
  if not stored then return end
  each('HSET', math.max(stored[2], s.extra) + 1, s.level, function(list, n)
    table.insert(list, text(n))
    table.insert(list, text(times[n]))
  end)
  each('HDEL', stored[1], math.min(stored[2], s.extra), function(list, n) table.insert(list, text(n)) end)
end
