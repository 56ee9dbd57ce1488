-- The sliding counter: window/counter.go
--
-- s.level: what counts in the window of s.at; s.extra: 1 + what counts in the window before

local count, length, all = limit[own + 1], limit[own + 2], limit[own + 3] == 1

local function judge(t)
  local now = math.max(s.at or t, t)
  local past = now % length -- cells are whole numbers of windows
  if not s.at then
    s.extra = 1
  elseif s.at < now - past then
    s.extra = 1 + (now - past - s.at <= length and s.level or 0)
    s.level = 0
  end
  s.at = now
  -- previous·(W−elapsed) ≤ (N−1−current)·W, but for the first product, which may be too large
  local left, previous = count - 1 - s.level, s.extra - 1
  local full = left < 0 or previous > 0 and length - past > floor_div(left * length, previous)
  if not full or all then s.level = s.level + 1 end
  return full, 0
end

local function forget() s.level, s.extra = 0, 0 end
local function finish() end
