-- limit_req of nginx, in whole milliseconds and thousandths of a request: leaky/nginx.go
--
-- s.at: the millisecond of the last request that changed the excess; s.level: the excess

local rate, burst, slow, longest = limit[own + 1], limit[own + 2], limit[own + 3], limit[own + 4]
-- slow: the excess above which a request is kept waiting, −1 for none; longest: milliseconds that matter
local thousand = 1000

clamps, unit = false, thousand

-- the milliseconds since s.at, by nginx's rules for a clock that has stepped back
local function elapsed_by(now)
  local elapsed = now - s.at
  if elapsed < -60 * thousand then return 1 end
  return math.max(0, math.min(elapsed, longest))
end

local function judge(t)
  local now = floor_div(t, thousand) -- cells are whole milliseconds
  local excess, elapsed = 0, 1
  if s.at then
    elapsed = elapsed_by(now)
    excess = math.max(0, s.level - floor_div(rate * elapsed, thousand) + thousand)
  end
  if excess > burst then return true end
  s.level = excess
  if elapsed > 0 then s.at = now end
  if slow < 0 or excess <= slow then return false, 0 end
  return false, floor_div((excess - slow) * thousand, rate) * thousand
end

local function forget() s.level = 0 end
local function finish() end
