-- The token bucket in which refused requests take tokens as well: bucket/debt.go
--
-- s.level: how many shares are missing at s.at; more than the bucket holds in debt

local token, inflow, room, full = limit[own + 1], limit[own + 2], limit[own + 3], limit[own + 4]
local period, capacity, deepest = limit[own + 5], limit[own + 6], limit[own + 7]

local function judge(t)
  if s.at and t > s.at then
    local elapsed = t - s.at
    if elapsed >= period then s.level = math.min(s.level, capacity) end
    s.level = math.max(0, s.level - math.min(elapsed, full) * inflow)
  end
  s.at = math.max(s.at or t, t)
  local refused = s.level > room
  s.level = math.min(s.level, deepest - token) + token
  return refused, 0
end

local function forget() s.level = 0 end
local function finish() end
