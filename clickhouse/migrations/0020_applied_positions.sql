-- Which log the tables are filled from, and how far: compared with the log at every start (docs/adr/0032).

-- `generation` grows when the tables are given to another log; rows of earlier ones do not count any more. Positions
-- are written now and then, so they may be behind what the tables hold, never ahead of it.
CREATE TABLE IF NOT EXISTS callhouse.applied_positions
(
    topic LowCardinality(String),
    generation UInt32,
    log_id String,
    partition UInt32,
    position UInt64,
    is_ready UInt8
)
ENGINE = ReplacingMergeTree(position)
ORDER BY (topic, generation, log_id, partition, is_ready)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- Records that no table holds and the log does not hold any more, until an operator takes note of them (is_known = 1).
CREATE TABLE IF NOT EXISTS callhouse.missing_records
(
    topic LowCardinality(String),
    log_id String,
    partition UInt32,
    first UInt64,
    last UInt64,
    accepted_before DateTime64(3, 'UTC'),
    is_known UInt8
)
ENGINE = ReplacingMergeTree(is_known)
ORDER BY (topic, log_id, partition, first, last)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
