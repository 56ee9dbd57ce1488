-- The fixed window, on the epoch's grid or opened by its first request: window/fixed.go
--
-- s.level: how many requests were admitted in the window; s.extra: 1 + how long the window had lasted at s.at

local count, length, first = limit[own + 1], limit[own + 2], limit[own + 3] == 1

local function judge(t)
  local elapsed = s.at and math.max(0, t - s.at) or length
  s.extra = s.extra + elapsed
  if elapsed >= length or s.extra > length then
    s.level, s.extra = 0, first and 1 or 1 + t % length -- cells are whole numbers of windows
  end
  s.at = math.max(s.at or t, t)
  if s.level >= count then return true end
  s.level = s.level + 1
  return false, 0
end

local function forget() s.level, s.extra = 0, 0 end
local function finish() end
