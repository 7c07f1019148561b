-- The embedded engine only: thin copies and marks are gathered in memory before they become parts (docs/adr/0027). The
-- log delivers a batch again whose rows were lost there. A column that a later migration adds to one of these tables has
-- to be added to its buffer too.

CREATE TABLE IF NOT EXISTS callhouse.calls_by_id_buffer AS callhouse.calls_by_id
ENGINE = Buffer(callhouse, calls_by_id, 1, 60, 60, 1000000000, 1000000000, 1000000000, 1000000000);

CREATE TABLE IF NOT EXISTS callhouse.calls_by_trace_buffer AS callhouse.calls_by_trace
ENGINE = Buffer(callhouse, calls_by_trace, 1, 60, 60, 1000000000, 1000000000, 1000000000, 1000000000);

CREATE TABLE IF NOT EXISTS callhouse.calls_by_parent_buffer AS callhouse.calls_by_parent
ENGINE = Buffer(callhouse, calls_by_parent, 1, 60, 60, 1000000000, 1000000000, 1000000000, 1000000000);

CREATE TABLE IF NOT EXISTS callhouse.turns_buffer AS callhouse.turns
ENGINE = Buffer(callhouse, turns, 1, 60, 60, 1000000000, 1000000000, 1000000000, 1000000000);

CREATE TABLE IF NOT EXISTS callhouse.call_marks_buffer AS callhouse.call_marks
ENGINE = Buffer(callhouse, call_marks, 1, 60, 60, 1000000000, 1000000000, 1000000000, 1000000000);

-- Each view anew with the buffer as its target, and the old one only then away.
CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_by_id_buffer TO callhouse.calls_by_id_buffer AS
SELECT project_id, id, started_at, trace_id FROM callhouse.calls;

DROP VIEW IF EXISTS callhouse.calls_to_by_id SYNC;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_by_trace_buffer TO callhouse.calls_by_trace_buffer AS
SELECT
    project_id, trace_id, started_at, id, parent_id, op_name, ended_at, exception != '' AS failed, error_count,
    usage_model, usage_requests, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write,
    start_bytes + end_bytes AS bytes, (delete_ver > 0 OR moved = 1) AS hidden, version
FROM callhouse.calls;

DROP VIEW IF EXISTS callhouse.calls_to_by_trace SYNC;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_by_parent_buffer TO callhouse.calls_by_parent_buffer AS
SELECT project_id, parent_id, started_at, id FROM callhouse.calls WHERE parent_id != '';

DROP VIEW IF EXISTS callhouse.calls_to_by_parent SYNC;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_turns_buffer TO callhouse.turns_buffer AS
SELECT project_id, thread_id, started_at, id, ended_at, (delete_ver > 0 OR moved = 1) AS hidden, version
FROM callhouse.calls
WHERE turn_id = id AND thread_id != '';

DROP VIEW IF EXISTS callhouse.calls_to_turns SYNC;
