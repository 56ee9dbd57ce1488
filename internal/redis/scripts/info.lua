-- What servers.go wants to know of the server that has the key, out of INFO. It changes nothing.
--
-- KEYS[1]  any key of the server, so that a cluster asks the right one
-- ARGV     names of fields
local all = redis.call('INFO', 'server') .. redis.call('INFO', 'replication')
local lines = {}
for _, name in ipairs(ARGV) do
  table.insert(lines, name .. ':' .. (string.match(all, '\n' .. name .. ':([^\r\n]*)') or ''))
end
return table.concat(lines, '\n')
