-- One narrow table says when a call, the calls of a trace and the children of a call start, instead of three copies of
-- the calls (docs/adr/0044). A key is a value of the column that its kind names: what it leads to are candidates.
CREATE TABLE IF NOT EXISTS callhouse.call_keys
(
    project_id String,
    kind LowCardinality(String),
    key String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, kind, key, started_at)
SETTINGS index_granularity = 1024, merge_selector_base = 16,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_keys TO callhouse.call_keys AS
SELECT project_id, pair.1 AS kind, pair.2 AS key, started_at
FROM callhouse.calls
ARRAY JOIN arrayFilter(one -> one.2 != '', [('id', id), ('trace_id', trace_id), ('parent_id', parent_id)]) AS pair;

-- Calls that are there already, some hours at a time. The view is made before: what comes meanwhile is in both, once.
INSERT INTO callhouse.call_keys
SELECT project_id, pair.1 AS kind, pair.2 AS key, started_at
FROM callhouse.calls
ARRAY JOIN arrayFilter(one -> one.2 != '', [('id', id), ('trace_id', trace_id), ('parent_id', parent_id)]) AS pair
WHERE started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC');
