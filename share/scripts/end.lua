-- The rest of every script. The algorithm has defined
--   judge(t)    charges a request at t; tells whether it is refused, and how many microseconds it is kept waiting
--   forget()    makes s that of a key never seen, but for what finish needs
--   finish()    writes what does not fit into s

local kept = redis.call('HMGET', key, 'cell', 'at', 'level', 'extra', 'latest', 'place', 'until', 'sole', '@' .. host, 'last')
local cell = tonumber(kept[1])
local latest = tonumber(kept[5])      -- the latest time since the key began anew; nil: never seen, or forgotten
local place = tonumber(kept[6])       -- the latest place in time
local kept_out = tonumber(kept[7])    -- until when the key is kept out; nil: it is free
local sole = kept[8]                  -- the only host that has been here; empty: there are several; false: none
local last = kept[10]     -- the host that was here last, if there are several
local record = kept[9] and cmsgpack.unpack(kept[9]) or {-1, {}, {}, 0} -- by number: the last one charged,
-- those refused, those kept waiting and for how long, and from which number on that is told

s.at, s.level, s.extra = tonumber(kept[2]), tonumber(kept[3]) or 0, tonumber(kept[4]) or 0

local function begin_anew()
  s.at, latest, place, kept_out = nil, nil, nil, nil
  forget()
end

-- where the times of this call begin, from the beginning of the key's first cell.
local reach = 2^52
local origin = 0
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
  cell = call[1]
  begin_anew()
end

local offsets = cmsgpack.unpack(ARGV[4])
local places = ARGV[5] ~= '' and cmsgpack.unpack(ARGV[5]) or offsets

local origin_in_units = origin / unit

-- What the host remembers is right where nobody else has been, unless it has more charged here than it knows of.
if ARGV[6] ~= '' and (not sole or sole == host) and record[1] < call[2] then
  local list = cmsgpack.unpack(ARGV[6]) -- empty: the host remembers nothing
  begin_anew()
  if #list > 0 then
    local seed = {at = origin_in_units + list[1], level = list[2], extra = list[3], high = list[4], times = {}}
    if list[5] == 1 then seed.level = seed.level + origin end -- it is a time
    for i = 8, #list do table.insert(seed.times, origin + list[i]) end
    restore(seed)
    if list[6] == 1 then kept_out = origin + list[7] end
    latest, place = s.at * unit, origin + (now or places[1]) -- the host's memory does not tell its place
  end
end

-- Where other hosts have been since, or while this one did not ask, it remembers too little. It is told, in the order in which
-- it would tell itself: whether the key was seen, at, level, extra in two halves, whether the key is kept out and until
-- when, and times.
local told = {}
local function tell()
  if not s.at then return {0} end
  local all = recall(origin)
  if not all then return {} end
  local list = {1, s.at - origin_in_units, all[1], all[2], all[3], kept_out and 1 or 0, (kept_out or origin) - origin}
  for i = 4, #all do table.insert(list, all[i]) end
  return list
end
if sole and sole ~= host and not now then
  if call[2] <= record[1] then
    told = {2} -- it was told, and may not have heard it: it is to ask again
  elseif last ~= host or ARGV[6] ~= '' then
    told = tell()
  end
end

-- Requests that this host has had charged before are answered as then.
local answered
local function answer_again(number)
  if not answered then
    answered = {}
    for _, n in ipairs(record[2]) do answered[n] = true end
    for i = 1, #record[3], 2 do answered[record[3][i]] = record[3][i + 1] end
  end
  return answered[number]
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
local charged, since = record[1], record[4]
local again = {charged, {}, {}, math.max(since, call[3])} -- the record after this call
if call[2] > math.max(charged + 1, call[3]) then
  again[4] = call[2] -- those in between were decided elsewhere: there is no answer to them, nor to what is mixed with them
end

-- What was answered before and may still be asked for stays on record.
for _, n in ipairs(record[2]) do
  if n >= again[4] then table.insert(again[2], n) end
end
for i = 1, #record[3], 2 do
  if record[3][i] >= again[4] then
    table.insert(again[3], record[3][i])
    table.insert(again[3], record[3][i + 1])
  end
end

for i, offset in ipairs(offsets) do
  local number = call[2] + i - 1
  if number <= charged then
    local answer = answer_again(number)
    if number < since then
      table.insert(refused, -i)
    elseif answer == true then
      table.insert(refused, i - 1)
    elseif answer then
      table.insert(delayed, i - 1)
      table.insert(delayed, answer)
    end
  else
    local t, p = origin + (now or offset), origin + (now or places[i])
    if latest and (t < latest - back or p - place > idle) then begin_anew() end
    latest, place = math.max(latest or t, t), math.max(place or p, p)
    local no, delay = admit(t)
    if no then
      table.insert(refused, i - 1)
      table.insert(again[2], number)
    elseif delay > 0 then
      table.insert(delayed, i - 1)
      table.insert(delayed, delay)
      table.insert(again[3], number)
      table.insert(again[3], delay)
    end
    again[1] = number
  end
end

if again[1] > charged then
  redis.call('HSET', key, 'cell', text(cell), 'at', s.at and text(s.at) or '', 'level', text(s.level), 'extra', text(s.extra),
    'latest', text(latest), 'place', text(place), 'until', kept_out and text(kept_out) or '',
    'sole', (not sole or sole == host) and host or '', 'last', host, '@' .. host, cmsgpack.pack(again))
  finish()
  redis.call('PEXPIRE', key, text(ttl))
end
return {refused, delayed, told}
