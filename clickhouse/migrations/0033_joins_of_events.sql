-- Log records that become part of calls, beyond 0024: events of coding agents with a span, and evaluations that name the
-- response of a call, by which they are due once more when the call comes.

CREATE TABLE IF NOT EXISTS callhouse.log_evaluations
(
    project_id String,
    response_id String CODEC(ZSTD(1)),
    log_id String CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, response_id, log_id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_evaluations TO callhouse.log_evaluations AS
SELECT
    project_id,
    if(attributes['gen_ai.response.id'] != '', attributes['gen_ai.response.id'],
        if(body_json = 1, JSONExtractString(body, 'gen_ai.response.id'), '')) AS response_id,
    id AS log_id, fromUnixTimestamp64Nano(at_ns, 'UTC') AS at
FROM callhouse.logs_in
WHERE event_name = 'gen_ai.evaluation.result' AND (trace_id = '' OR span_id = '') AND response_id != '';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_event_joins TO callhouse.log_joins AS
SELECT
    project_id, trace_id, span_id, id AS log_id, fromUnixTimestamp64Nano(at_ns, 'UTC') AS at, event_name,
    now() AS arrived
FROM callhouse.logs_in
WHERE trace_id != '' AND span_id != '' AND event_name IN (
    'claude_code.api_request', 'claude_code.api_error', 'claude_code.tool_result', 'claude_code.user_prompt',
    'codex.api_request', 'codex.api_error', 'codex.sse_event', 'codex.tool_result', 'codex.user_prompt',
    'gemini_cli.api_response', 'gemini_cli.api_error', 'gemini_cli.tool_call', 'gemini_cli.user_prompt');
