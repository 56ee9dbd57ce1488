CREATE TABLE IF NOT EXISTS shard_runs ( -- runs that judged shards of a set: shadow shard
    run       INTEGER NOT NULL,
    shard     VARCHAR NOT NULL, -- which ones, from 0: 17, or 0-63
    shards    INTEGER NOT NULL, -- how many the set has
    shard_key VARCHAR NOT NULL, -- what they are divided by
    shard_set VARCHAR NOT NULL  -- the identity of the logs, and of how they were read
);

CREATE TABLE IF NOT EXISTS shard_sums ( -- what shadow merge --sum adds
    run   INTEGER NOT NULL,
    piece INTEGER NOT NULL, -- from 0
    bytes BLOB    NOT NULL  -- packed: shard.Sum
);
