-- Counters per minute and hour: where a page of calls begins (docs/concepts.md, "Counters").

-- Which minutes a log position touched. A minute is dirty while it has a mark past the rollup's position.
CREATE TABLE IF NOT EXISTS callhouse.call_marks
(
    project_id String,
    position UInt64,
    minute DateTime('UTC')
)
ENGINE = ReplacingMergeTree
PARTITION BY intDiv(position, 1000000)
ORDER BY (project_id, position, minute)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.call_counts
(
    project_id String,
    minute DateTime('UTC'),
    calls UInt64,
    roots UInt64,
    position UInt64
)
ENGINE = ReplacingMergeTree(position)
PARTITION BY toYYYYMM(minute)
ORDER BY (project_id, minute)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.call_counts_hourly
(
    project_id String,
    hour DateTime('UTC'),
    calls UInt64,
    roots UInt64,
    position UInt64
)
ENGINE = ReplacingMergeTree(position)
PARTITION BY toYYYYMM(hour)
ORDER BY (project_id, hour)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- How far each rollup has recomputed: marks up to this position are covered.
CREATE TABLE IF NOT EXISTS callhouse.rollups
(
    name String,
    position UInt64
)
ENGINE = ReplacingMergeTree(position)
ORDER BY name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
