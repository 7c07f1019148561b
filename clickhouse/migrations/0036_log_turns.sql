-- Records of coding agents that name no prompt, or their session as one, by their sessions: they lie below the last prompt before them.

-- Kept as logs are. `session` is a hash of the session's id.
CREATE TABLE IF NOT EXISTS callhouse.log_turns
(
    project_id String,
    session UInt128 CODEC(ZSTD(1)),
    is_prompt UInt8,
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, session, is_prompt, at, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- From which time on the records of a session may lie below another prompt than before. As long as `arrived` says; days go
-- as a whole.
CREATE TABLE IF NOT EXISTS callhouse.log_turns_due
(
    project_id String,
    session UInt128 CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    arrived DateTime CODEC(Delta(4), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(arrived)
ORDER BY (project_id, session, arrived, at)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_turns TO callhouse.log_turns AS
SELECT
    project_id,
    reinterpretAsUInt128(sipHash128(own)) AS session,
    toUInt8(endsWith(event_name, '.user_prompt')) AS is_prompt,
    fromUnixTimestamp64Nano(at_ns, 'UTC') AS at, id
FROM callhouse.logs_in
WHERE event_name IN (
    'claude_code.api_request', 'claude_code.api_error', 'claude_code.tool_result', 'claude_code.user_prompt',
    'codex.api_request', 'codex.api_error', 'codex.sse_event', 'codex.tool_result', 'codex.user_prompt',
    'gemini_cli.api_response', 'gemini_cli.api_error', 'gemini_cli.tool_call', 'gemini_cli.user_prompt')
    AND (trace_id = '' OR span_id = '')
    AND (if(attributes['session.id'] != '', attributes['session.id'], attributes['conversation.id']) AS own) != ''
    AND if(attributes['prompt.id'] != '', attributes['prompt.id'], attributes['prompt_id']) IN ('', own);

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_turns_due TO callhouse.log_turns_due AS
SELECT
    project_id,
    reinterpretAsUInt128(sipHash128(own)) AS session,
    min(fromUnixTimestamp64Nano(at_ns, 'UTC')) AS at, now() AS arrived
FROM callhouse.logs_in
WHERE event_name IN (
    'claude_code.api_request', 'claude_code.api_error', 'claude_code.tool_result', 'claude_code.user_prompt',
    'codex.api_request', 'codex.api_error', 'codex.sse_event', 'codex.tool_result', 'codex.user_prompt',
    'gemini_cli.api_response', 'gemini_cli.api_error', 'gemini_cli.tool_call', 'gemini_cli.user_prompt')
    AND (trace_id = '' OR span_id = '')
    AND (if(attributes['session.id'] != '', attributes['session.id'], attributes['conversation.id']) AS own) != ''
    AND if(attributes['prompt.id'] != '', attributes['prompt.id'], attributes['prompt_id']) IN ('', own)
GROUP BY project_id, session;
