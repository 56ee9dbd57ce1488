-- One key of one limit, and its next requests in time order. Every script is this file, then the one of its algorithm,
-- then end.lua.
--
-- KEYS[1]  a hash: what the limiter remembers of the key, and of each host what it was answered last
-- ARGV[1]  the limit: see below, and the file of the algorithm for its own numbers
-- ARGV[2]  the host, under whose name answers are kept
-- ARGV[3]  the call: the cell that times count from; how many requests of the key there were before the first one at its
--          place in time; the place from which on answers are kept, in microseconds from the beginning of the cell;
--          whether times are those of this server; whether the host may have decided requests of the key alone
--          since it last asked, and may ask for them again
-- ARGV[4]  the time of each request, in microseconds from the beginning of the cell
-- ARGV[5]  where each request has its place in time, if any came too late; else empty
-- ARGV[6]  what the host remembers of the key itself, where Redis may have missed something; else empty. It counts if
--          Redis knows nothing of the key, or if no other host has been there.
--
-- The answer is three lists: the indices (from 0) of the refused requests, −1−i for a request i that was charged before
-- and whose answer is not kept any more; pairs of the index and the delay, in microseconds, of requests that are
-- kept waiting; and, if another host was here since this one, what it would have to remember to know as much, as it was
-- before this call: see take_snapshot in end.lua.
--
-- Numbers are doubles, so all are whole and below 2^53. A cell is a length of time that the limit's grid divides; times
-- count from the beginning of the cell of the key's first request. Nothing is written before all is judged, and the hash
-- is written first: where memory is full, that fails, and the key is as it was.

local key, host = KEYS[1], ARGV[2]
local limit = cmsgpack.unpack(ARGV[1])
local call = cmsgpack.unpack(ARGV[3])

local cell_length = limit[1] -- microseconds
local back        = limit[2] -- a key whose time steps back by more starts again
local idle        = limit[3] -- so does one that was not seen for longer
local ttl         = limit[4] -- milliseconds of real time after which Redis may forget the key
local cooldown    = limit[5] -- microseconds that a key is kept out after a refusal; 0: it is not
local extend      = limit[6] -- 1: a request in that time extends it
local own         = 6        -- the numbers of the algorithm follow

-- what the algorithm remembers: limit.State of the Go limiter, and in its units unless its file says otherwise.
local s = {
  at = nil,  -- the latest moment; nil: a key never seen
  level = 0,
  extra = 0,
}
local clamps = true -- whether the algorithm takes a time before the latest moment for that moment
local unit = 1      -- microseconds in the unit of s.at

-- makes s what a host remembers.
local restore = function(memory) s.at, s.level, s.extra = memory.at, memory.level, memory.extra end

-- is what a host remembers for s: level, extra in two halves, and times, in a list; nil: that is too much to tell. Times count
-- from the origin, which is where the times of this call begin.
local recall = function(origin) return {s.level, math.max(s.extra, 1), 0} end

-- write and read whole numbers without losing digits.
local function text(n) return string.format('%.0f', n) end
local function floor_div(a, b) return (a - a % b) / b end
