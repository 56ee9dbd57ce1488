-- The token bucket that is refilled at the end of each period: bucket/step.go
--
-- s.level: how many tokens are missing at s.at; s.extra: 1 + how many microseconds of the period have passed by
-- then

local burst, period = limit[own + 1], limit[own + 2]

local function judge(t)
  local elapsed = s.at and math.max(0, t - s.at) or period
  if elapsed >= period then
    s.level, s.extra = 0, 1
  else
    s.extra = s.extra + elapsed
    if s.extra > period then s.level, s.extra = 0, s.extra - period end
  end
  s.at = math.max(s.at or t, t)
  if s.level >= burst then return true end
  s.level = s.level + 1
  return false, 0
end

local function forget() s.level, s.extra = 0, 0 end
local function finish() end
