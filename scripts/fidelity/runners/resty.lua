-- Runs limiters of OpenResty and Kong in a real nginx on a schedule: the content of one request, whose arguments say which
-- (kind, count, seconds, burst) and where the schedule is. LD_PRELOAD has clock.so.
local ffi = require "ffi"
ffi.cdef [[ void fidelity_set(double to); ]]

local args = ngx.req.get_uri_args()
local count, seconds, burst = tonumber(args.count), tonumber(args.seconds), tonumber(args.burst)

local limiters = {
  count = function()
    local limiter = assert(require("resty.limit.count").new("store", count, seconds))
    return function(client) return (limiter:incoming(client, true)) end
  end,
  req = function()
    local limiter = assert(require("resty.limit.req").new("store", count / seconds, burst))
    return function(client) return (limiter:incoming(client, true)) end
  end,
  -- As the plugin's handler does: a request is counted when every period has room.
  kong = function()
    _G.kong = { log = { err = function(...) error(table.concat({ ... })) end } }
    for _, name in ipairs { "kong.plugins.rate-limiting.policies.cluster", "kong.reports", "resty.redis", "kong.tools.table" } do
      package.loaded[name] = { EMPTY = {} }
    end
    local policy = require("kong.plugins.rate-limiting.policies")["local"]
    local period = ({ [1] = "second", [60] = "minute" })[seconds]
    local limits = { [period] = count }
    return function(client)
      local now = ngx.time() * 1000
      if count - policy.usage({}, client, period, now) <= 0 then return false end
      return policy.increment({}, limits, client, now, 1)
    end
  end,
}

local ask = limiters[args.kind]()
local out = {}
for line in io.lines(args.schedule) do
  local at, client = line:match("(%d+) (%d+)")
  ffi.C.fidelity_set(tonumber(at))
  ngx.update_time()
  out[#out + 1] = ask(client) and "1" or "0"
end
ngx.say(table.concat(out))
