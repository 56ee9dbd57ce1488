-- The token bucket, which counts the shares that are missing from a full one: bucket/token.go
--
-- s.level: how many shares are missing at s.at

local token, inflow, room, full = limit[own + 1], limit[own + 2], limit[own + 3], limit[own + 4]

local function judge(t)
  if s.at and t > s.at then
    s.level = math.max(0, s.level - math.min(t - s.at, full) * inflow)
  end
  s.at = math.max(s.at or t, t)
  if s.level > room then return true end
  s.level = s.level + token
  return false, 0
end

local function forget() s.level = 0 end
local function finish() end
