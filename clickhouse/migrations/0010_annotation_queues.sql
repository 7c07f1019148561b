-- Annotation queues: one row per part of a queue, per call in a queue, and per annotator of an item.

CREATE TABLE IF NOT EXISTS callhouse.annotation_queues_in
(
    _record String,
    project_id String,
    queue_id String,
    clock UInt64,
    event Enum8('created' = 1, 'updated' = 2, 'deleted' = 3, 'item_added' = 4, 'progressed' = 5),
    user_id String,
    parts Array(Enum8('created' = 1, 'name' = 2, 'description' = 3, 'scorer_refs' = 4, 'deleted' = 5)),
    name String,
    description String,
    scorer_refs Array(String),
    item_id String,
    call_id String,
    call_started_us Int64,
    call_ended_us Int64,
    call_op_name String,
    call_trace_id String,
    display_fields Array(String),
    state Enum8('in_progress' = 1, 'completed' = 2, 'skipped' = 3)
) ENGINE = Null;

-- The newest value of each part counts, so updates of different parts may come in any order. A part 'deleted' is final.
CREATE TABLE IF NOT EXISTS callhouse.annotation_queues
(
    project_id String,
    queue_id String,
    part Enum8('created' = 1, 'name' = 2, 'description' = 3, 'scorer_refs' = 4, 'deleted' = 5),
    clock UInt64,
    user_id String,
    text String CODEC(ZSTD(1)),
    refs Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, queue_id, part)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.annotation_queues_in_to_queues TO callhouse.annotation_queues AS
SELECT
    project_id, queue_id, part, clock, user_id,
    multiIf(part = 'name', name, part = 'description', description, '') AS text,
    if(part = 'scorer_refs', scorer_refs, []) AS refs
FROM callhouse.annotation_queues_in
ARRAY JOIN parts AS part
WHERE event IN ('created', 'updated', 'deleted');

-- A call is once in a queue: the version makes the addition with the earliest clock win.
CREATE TABLE IF NOT EXISTS callhouse.annotation_queue_items
(
    project_id String,
    queue_id String,
    call_id String,
    version UInt64,
    id String,
    clock UInt64,
    added_by LowCardinality(String),
    call_started_at DateTime64(6, 'UTC'),
    call_ended_at DateTime64(6, 'UTC'),
    call_op_name LowCardinality(String),
    call_trace_id String,
    display_fields Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, queue_id, call_id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.annotation_queues_in_to_items TO callhouse.annotation_queue_items AS
SELECT
    project_id, queue_id, call_id, bitNot(clock) AS version, item_id AS id, clock, user_id AS added_by,
    fromUnixTimestamp64Micro(call_started_us, 'UTC') AS call_started_at,
    fromUnixTimestamp64Micro(call_ended_us, 'UTC') AS call_ended_at,
    call_op_name, call_trace_id, display_fields
FROM callhouse.annotation_queues_in
WHERE event = 'item_added';

-- Being done outweighs being in progress, and the first move to a state outweighs later ones: what a second move meets
-- when it comes after the first. Accept clocks leave the highest bit free.
CREATE TABLE IF NOT EXISTS callhouse.annotation_queue_progress
(
    project_id String,
    queue_id String,
    call_id String,
    annotator String,
    version UInt64,
    clock UInt64,
    state Enum8('in_progress' = 1, 'completed' = 2, 'skipped' = 3)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, queue_id, call_id, annotator)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.annotation_queues_in_to_progress TO callhouse.annotation_queue_progress AS
SELECT
    project_id, queue_id, call_id, user_id AS annotator,
    if(state = 'in_progress', bitXor(clock, 9223372036854775807), bitNot(clock)) AS version,
    clock, state
FROM callhouse.annotation_queues_in
WHERE event = 'progressed';
