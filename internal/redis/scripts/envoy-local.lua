-- The token bucket that a timer fills on the epoch's grid: bucket/envoy.go
--
-- s.level: how many tokens are missing at s.at; s.extra: 1 + how many microseconds of the period have passed by
-- then

local count, burst, period, fills = limit[own + 1], limit[own + 2], limit[own + 3], limit[own + 4]

-- the timer fires n times.
local function fill(n)
  s.level = n >= fills and 0 or math.max(0, s.level - n * count)
end

local function judge(t)
  if not s.at then
    s.extra = 1 + t % period -- cells are whole numbers of periods
  elseif t > s.at then
    local elapsed = t - s.at
    if elapsed >= period then
      fill(floor_div(elapsed, period))
      elapsed = elapsed % period
    end
    s.extra = s.extra + elapsed
    if s.extra > period then
      fill(1)
      s.extra = s.extra - period
    end
  end
  s.at = math.max(s.at or t, t)
  if s.level >= burst then return true end
  s.level = s.level + 1
  return false, 0
end

local function forget() s.level, s.extra = 0, 0 end
local function finish() end
