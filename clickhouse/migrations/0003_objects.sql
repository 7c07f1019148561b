-- Versioned objects: contents once per digest, and one small row per creation or deletion.

CREATE TABLE IF NOT EXISTS callhouse.objects_in
(
    _record String,
    project_id String,
    object_id String,
    kind Enum8('object' = 1, 'op' = 2),
    digest String,
    clock UInt64,
    event Enum8('created' = 1, 'deleted' = 2),
    user_id String,
    base_object_class String,
    leaf_object_class String,
    refs Array(String),
    size_bytes UInt64,
    val String
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.objects
(
    project_id String,
    object_id String,
    kind Enum8('object' = 1, 'op' = 2),
    digest String,
    clock UInt64,
    base_object_class LowCardinality(String),
    leaf_object_class LowCardinality(String),
    refs Array(String),
    size_bytes UInt64,
    val String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, object_id, kind, digest)
SETTINGS index_granularity = 128,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.object_events
(
    project_id String,
    object_id String,
    kind Enum8('object' = 1, 'op' = 2),
    digest String,
    clock UInt64,
    event Enum8('created' = 1, 'deleted' = 2),
    user_id LowCardinality(String),
    base_object_class LowCardinality(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, object_id, kind, digest, clock)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.objects_in_to_objects TO callhouse.objects AS
SELECT project_id, object_id, kind, digest, clock, base_object_class, leaf_object_class, refs, size_bytes, val
FROM callhouse.objects_in
WHERE event = 'created';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.objects_in_to_events TO callhouse.object_events AS
SELECT project_id, object_id, kind, digest, clock, event, user_id, base_object_class
FROM callhouse.objects_in;
