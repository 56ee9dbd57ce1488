-- The fixed window, on the epoch's grid or opened by its first request: window/fixed.go
--
-- s.level: how many requests were admitted in the window; s.extra: the last moment of the window

local count, length, first = limit[own + 1], limit[own + 2], limit[own + 3] == 1

local function judge(t)
  if not s.at or t > s.extra then
    local begin = first and t or t - t % length -- cells are whole numbers of windows
    s.level, s.extra = 0, begin + length - 1
  end
  s.at = math.max(s.at or t, t)
  if s.level >= count then return true end
  s.level = s.level + 1
  return false, 0
end

local function forget() s.level, s.extra = 0, 0 end
local function finish() end
