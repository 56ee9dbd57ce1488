-- The leaky bucket, drained on ticks since the epoch: leaky/leaky.go
--
-- s.level: the water at s.at, which sinks evenly while there is any; below nothing it is the part of a tick that has passed

local drop, drain, room = limit[own + 1], limit[own + 2], limit[own + 3]

-- the water in an empty bucket. Cells are whole numbers of drops, so ticks begin with them.
local function empty(t) return -((t % drop) * drain % drop) end

local function judge(t)
  if not s.at then
    s.level, s.at = empty(t), t
  elseif t > s.at then
    if t - s.at > (s.level + drop) / drain then
      s.level = empty(t)
    else
      s.level = s.level - (t - s.at) * drain
      if s.level <= -drop then s.level = empty(t) end
    end
    s.at = t
  end
  if s.level > room then return true end
  s.level = s.level + drop
  return false, 0
end

local function forget() s.level = 0 end
local function finish() end
