-- The rest of every script. The algorithm has defined
--   judge(t)    charges a request at t; returns whether it is refused, and how many microseconds it is kept waiting
--   forget()    makes s that of a key never seen, but for what finish needs
--   finish()    writes what does not fit into s

local kept = redis.call('HMGET', key, 'cell', 'at', 'level', 'extra', 'latest', 'place', 'until', 'sole', '@' .. host, 'last',
  'hosts', 'due')
local cell = tonumber(kept[1])
local latest = tonumber(kept[5])      -- the latest time since the key last began; nil: never seen, or forgotten
local place = tonumber(kept[6])       -- the latest place in time
local kept_out = tonumber(kept[7])    -- until when the key is kept out; nil: it is free
local sole = kept[8]                  -- the only host that has been here; empty: there are several; false: none
local last = kept[10]                 -- the host that was here last
local hosts = kept[11]                -- those that have a record, if there are several
local due = tonumber(kept[12])        -- the number from which on it makes sense to look whether some of them have gone
-- What this host was answered: where the last request that was charged has its number; those refused, as the numbers of the first
-- and the last of each run; those kept waiting, by number, and for how long; and from which place on that is kept. A number is a
-- place in time, in microseconds from the beginning of the key's first cell, and how many requests of the key were there before it.
local record = kept[9] and cmsgpack.unpack(kept[9]) or {-2^53, 0, {}, {}, -2^53}

s.at, s.level, s.extra = tonumber(kept[2]), tonumber(kept[3]) or 0, tonumber(kept[4]) or 0

local function begin_again()
  s.at, latest, place, kept_out = nil, nil, nil, nil
  forget()
end

-- where the times of this call begin, and its places by the log, from the beginning of the key's first cell.
local reach = 2^52
local origin, log_origin = 0, 0
local log_cell = call[1]
local now -- of this server, if its clock counts
if call[4] == 1 then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  call[1] = floor_div(now, cell_length)
  now = now - call[1] * cell_length
end
if cell and math.abs(call[1] - cell) < reach / cell_length then
  origin = (call[1] - cell) * cell_length
else
  cell, record = call[1], {-2^53, 0, {}, {}, -2^53}
  begin_again()
end
if math.abs(log_cell - cell) < reach / cell_length then -- that of the log may be far from this server's time
  log_origin = (log_cell - cell) * cell_length
end

local offsets = cmsgpack.unpack(ARGV[4])
local places = ARGV[5] ~= '' and cmsgpack.unpack(ARGV[5]) or offsets

local origin_in_units = origin / unit

-- reports whether a request has been charged.
local function is_charged(place, index)
  return place < record[1] or place == record[1] and index <= record[2]
end
local known = is_charged(log_origin + places[1], call[2]) -- at least the first request

-- What the host remembers is right where no other host has been, unless it has more charged here than it knows of.
if ARGV[6] ~= '' and (not sole or sole == host) and not known then
  local list = cmsgpack.unpack(ARGV[6]) -- empty: the host remembers nothing
  begin_again()
  if #list > 0 then
    local memory = {at = origin_in_units + list[1], level = list[2], extra = list[3], high = list[4], times = {}}
    if list[5] == 1 then memory.level = memory.level + origin end -- it is a time
    for i = 8, #list do table.insert(memory.times, origin + list[i]) end
    restore(memory)
    if list[6] == 1 then kept_out = origin + list[7] end
    latest, place = s.at * unit, origin + (now or places[1]) -- the host's memory lacks its place
  end
end

-- Where other hosts have been since, or while this one did not ask, it remembers too little. It gets a snapshot of the
-- key: whether it was seen, at, level, extra in two halves, whether it is kept out and until when, and times.
local snapshot = {}
local function take_snapshot()
  if not s.at then return {0} end
  local all = recall(origin)
  if not all then return {} end
  local list = {1, s.at - origin_in_units, all[1], all[2], all[3], kept_out and 1 or 0, (kept_out or origin) - origin}
  for i = 4, #all do table.insert(list, all[i]) end
  return list
end
if sole and sole ~= host and not now then
  if known then
    snapshot = {2} -- an earlier one may be lost: it is to ask again
  elseif last ~= host or ARGV[6] ~= '' then
    snapshot = take_snapshot()
  end
end

-- Requests that this host has had charged before are answered as then.
local function was_refused(place, index)
  local runs, low, high = record[3], 0, #record[3] / 4
  while low < high do -- so many runs begin no later
    local middle = floor_div(low + high, 2)
    local at = runs[4 * middle + 1]
    if at > place or at == place and runs[4 * middle + 2] > index then high = middle else low = middle + 1 end
  end
  if low == 0 then return false end
  local to = runs[4 * low - 1]
  return place < to or place == to and index <= runs[4 * low]
end

local waited
local function had_to_wait(place, index)
  if not waited then
    waited = {}
    for i = 1, #record[4], 3 do waited[text(record[4][i]) .. '/' .. record[4][i + 1]] = record[4][i + 2] end
  end
  return waited[text(place) .. '/' .. index]
end

-- The cooldown around the algorithm.
local function admit(t)
  if kept_out and t < kept_out then
    if extend == 1 then kept_out = math.max(kept_out, t + cooldown) end
    return true, 0
  end
  kept_out = nil
  local refused, delay = judge(t)
  if refused and cooldown > 0 then kept_out = (clamps and s.at or t) + cooldown end
  return refused, delay
end

local refused, delayed = {}, {}
local since = math.max(record[5], log_origin + call[3]) -- from where on answers are kept after this call
if call[5] == 1 and not known then
  since = log_origin + places[1] -- there is no answer to what the host has decided alone, nor to what lies between
end
local again = {record[1], record[2], {}, {}, since} -- the record after this call

local function append(list, a, b, c)
  local n = #list
  list[n + 1], list[n + 2], list[n + 3] = a, b, c -- c may be nil
end

-- What was answered before and may still be asked for stays on record.
for i = 1, #record[3], 4 do
  if record[3][i + 2] >= since then
    for j = i, i + 3 do table.insert(again[3], record[3][j]) end
  end
end
for i = 1, #record[4], 3 do
  if record[4][i] >= since then append(again[4], record[4][i], record[4][i + 1], record[4][i + 2]) end
end

-- notes that a request is refused, in the run of the one that was charged before it if that was refused, too.
local function refuse(number, index)
  local runs = again[3]
  local n = #runs
  if n > 0 and runs[n - 1] == again[1] and runs[n] == again[2] then
    runs[n - 1], runs[n] = number, index
  else
    runs[n + 1], runs[n + 2], runs[n + 3], runs[n + 4] = number, index, number, index
  end
end

local charges = false
local index = call[2] - 1
for i, offset in ipairs(offsets) do
  local number = log_origin + places[i]
  index = (i == 1 or places[i] == places[i - 1]) and index + 1 or 0
  if is_charged(number, index) then
    local delay = had_to_wait(number, index)
    if number < record[5] then
      table.insert(refused, -i)
    elseif was_refused(number, index) then
      table.insert(refused, i - 1)
    elseif delay then
      append(delayed, i - 1, delay)
    end
  else
    local t, p = origin + (now or offset), origin + (now or places[i])
    if latest and (t < latest - back or p - place > idle) then begin_again() end
    latest, place = math.max(latest or t, t), math.max(place or p, p)
    local no, delay = admit(t)
    if no then
      table.insert(refused, i - 1)
      refuse(number, index)
    elseif delay > 0 then
      append(delayed, i - 1, delay)
      append(again[4], number, index, delay)
    end
    again[1], again[2], charges = number, index, true
  end
end

-- Hosts come and go, and should leave nothing behind. A key starts again after a pause of idle. A host that was not here
-- for that long, by the time of the log, has nothing to ask again, and nothing that it charged still matters. Its record is
-- removed: stay are the hosts that are left, gone the fields that are to be removed. The hosts are listed once in such a time.
local stay, gone = {}, {}
local function part(list)
  for _, other in ipairs(list) do
    local field = '@' .. other
    local its = other ~= host and redis.call('HGET', key, field)
    if other == host or its and cmsgpack.unpack(its)[1] >= again[1] - idle then
      table.insert(stay, other)
    else
      table.insert(gone, field)
    end
  end
  due = again[1] + idle
  if #stay > 1 then return end
  if last == host and ARGV[6] == '' and not known then
    sole = host -- it knows all that still matters
    table.insert(gone, 'hosts')
    table.insert(gone, 'due')
  else
    due = again[1] -- the next call may show it
  end
end

-- notes that this host is not the only one, and returns what is to be written of that.
local function join()
  if sole ~= '' then
    stay, sole, due = {sole, host}, '', again[1] + idle -- it is the second
  elseif not due or kept[9] and again[1] <= due then
    return {} -- nothing is new, or a shadow that does not list hosts has been here
  else
    stay = cmsgpack.unpack(hosts)
    if not kept[9] then table.insert(stay, host) end
    if again[1] > due then
      local list = stay
      stay = {}
      part(list)
    end
  end
  if sole == host then return {} end
  return {'hosts', cmsgpack.pack(stay), 'due', text(due)}
end

if charges then
  local several = {}
  if not sole then sole = host elseif sole ~= host then several = join() end
  redis.call('HSET', key, 'cell', text(cell), 'at', s.at and text(s.at) or '', 'level', text(s.level), 'extra', text(s.extra),
    'latest', text(latest), 'place', text(place), 'until', kept_out and text(kept_out) or '',
    'sole', sole, 'last', host, '@' .. host, cmsgpack.pack(again), unpack(several))
  finish()
  for _, field in ipairs(gone) do redis.call('HDEL', key, field) end
  redis.call('PEXPIRE', key, text(ttl))
end
return {refused, delayed, snapshot}
