-- Runs limiters of OpenResty, Kong and APISIX in a real nginx on a schedule: the content of one request, whose arguments
-- say which (kind, plugin, count, seconds, burst) and where the schedule is. LD_PRELOAD has clock.so.
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
  -- A plugin of APISIX, with as much of its core as it asks for.
  apisix = function()
    local function nothing() end
    local log = setmetatable({ error = function(...) error(table.concat({ ... })) end }, { __index = function() return nothing end })
    local limiter
    local stubs = {
      ["apisix.core"] = {
        log = log,
        sleep = nothing,
        json = { delay_encode = nothing },
        table = { deepcopy = function(t) return t end },
        utils = { set_var_rate_limiting_info = nothing },
        lrucache = {
          new = nothing,
          plugin_ctx = function(_, _, _, create, ...)
            limiter = limiter or assert(create(...))
            return limiter
          end,
        },
      },
      ["apisix.core.log"] = log,
      ["apisix.plugin"] = { conf_version = function() return "1" end, plugin_metadata = nothing },
      ["apisix.plugins.workflow"] = {},
      ["apisix.utils.redis-schema"] = { schema = {} },
    }
    for _, name in ipairs { "limit-req", "limit-count" } do
      for _, store in ipairs { "redis", "redis-cluster", "redis-sentinel" } do
        stubs["apisix.plugins." .. name .. "." .. name .. "-" .. store] = {}
      end
    end
    for name, stub in pairs(stubs) do package.loaded[name] = stub end
    local plugin = require("apisix.plugins." .. args.plugin)
    local conf = {
      count = count, time_window = seconds, rate = count / seconds, burst = burst,
      key = "client", key_type = "var", policy = "local", rejected_code = 503, _meta = { parent = { resource_key = "route" } },
    }
    return function(client) return plugin.access(conf, { var = { client = client } }) == nil end
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
