-- The token bucket of Traefik, which keeps requests waiting and forgets keys by whole seconds: bucket/traefik.go
--
-- s.level: how many shares are missing at s.at; more than the bucket holds when tokens were taken that were not there

local token, inflow, room, full = limit[own + 1], limit[own + 2], limit[own + 3], limit[own + 4]
local capacity, age = limit[own + 5], limit[own + 6]
local second = 1000000

local function forgotten(t)
  local elapsed = t - s.at
  if elapsed <= (age - 1) * second then return false end
  return elapsed >= age * second or floor_div(t, second) - floor_div(s.at, second) >= age -- cells are whole seconds
end

local function judge(t)
  if s.at and t > s.at then
    s.level = forgotten(t) and 0 or math.max(0, s.level - math.min(t - s.at, full) * inflow)
  end
  s.at = math.max(s.at or t, t)
  if s.level > room then return true end
  local delay = floor_div(math.max(0, s.level + token - capacity), inflow)
  s.level = s.level + token
  return false, delay
end

local function forget() s.level = 0 end
local function finish() end
