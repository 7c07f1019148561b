-- Who changed or was refused what (docs/audit.md). The hash of an event covers its columns in the order of the landing
-- table, but for `prev` and `hash`.

CREATE TABLE IF NOT EXISTS callhouse.audit_in
(
    _record String,
    project_id String,
    at_us Int64,
    chain String,
    seq UInt64,
    actor String,
    actor_kind Enum8('user' = 1, 'command' = 2, 'server' = 3),
    key_id String,
    address String,
    action String,
    target String,
    outcome Enum8('done' = 1, 'begun' = 2, 'failed' = 3, 'refused' = 4),
    request_id String,
    details String,
    ends_from UInt64,
    ends_to UInt64,
    prev String,
    hash String
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.audit_events
(
    scope String,
    at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    chain String CODEC(ZSTD(1)),
    seq UInt64 CODEC(Delta(8), ZSTD(1)),
    actor String CODEC(ZSTD(1)),
    actor_kind Enum8('user' = 1, 'command' = 2, 'server' = 3),
    key_id String CODEC(ZSTD(1)),
    address String CODEC(ZSTD(1)),
    action LowCardinality(String),
    target String CODEC(ZSTD(1)),
    outcome Enum8('done' = 1, 'begun' = 2, 'failed' = 3, 'refused' = 4),
    request_id String CODEC(ZSTD(1)),
    details String CODEC(ZSTD(1)),
    ends_from UInt64 CODEC(T64, ZSTD(1)),
    ends_to UInt64 CODEC(T64, ZSTD(1)),
    prev String CODEC(ZSTD(1)),
    hash String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (scope, at, chain, seq)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.audit_in_to_events TO callhouse.audit_events AS
SELECT
    project_id AS scope, fromUnixTimestamp64Micro(at_us, 'UTC') AS at, chain, seq, actor, actor_kind, key_id, address,
    action, target, outcome, request_id, details, ends_from, ends_to, prev, hash
FROM callhouse.audit_in;
