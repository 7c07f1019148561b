-- Short leaf values of payloads as columns (docs/concepts.md, "Leaves"): derived in the background from what is stored.

-- One row per path and kind of a group of payload rows: the values, and the time of the payload row of each.
-- kind: 'number' = its text form is the shortest text of `num`; 'text' = `str` is the text form; 'numeral' = the same, and
-- it reads as a number; 'long' = a text that is left out; 'hollow' = an object without leaves; 'opaque' = left out with
-- all that lies below it. Objects that hold leaves have no row of their own.
CREATE TABLE IF NOT EXISTS callhouse.payload_leaves
(
    project_id String,
    path String,
    kind Enum8('number' = 1, 'text' = 2, 'numeral' = 3, 'long' = 4, 'hollow' = 5, 'opaque' = 6),
    part Enum8('both' = 0, 'start' = 1, 'end' = 2),
    least Int64,
    most Int64,
    chunk UInt64,
    at Array(Int64) CODEC(Delta(8), ZSTD(1)),
    num Array(Float64) CODEC(ZSTD(1)),
    str Array(String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Micro(least, 'UTC'))
ORDER BY (project_id, path, kind, part, least, chunk)
SETTINGS index_granularity = 64,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- The payload rows of each group: written after their leaves, so that a row found here has all of them.
CREATE TABLE IF NOT EXISTS callhouse.payload_chunks
(
    project_id String,
    least Int64,
    most Int64,
    chunk UInt64,
    part Enum8('both' = 0, 'start' = 1, 'end' = 2),
    at Array(Int64) CODEC(Delta(8), ZSTD(1)),
    clock Array(UInt64) CODEC(Delta(8), ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Micro(least, 'UTC'))
ORDER BY (project_id, least, chunk)
SETTINGS index_granularity = 64,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
