-- What a bill needs to know (billed_usage.sql) is computed only where there is something to bill: preparing the long
-- expression costs as much as the whole rest of an insert of payloads (docs/adr/0041). The same expressions, as defaults
-- that an insert may give itself. Nothing that is stored changes.
ALTER TABLE callhouse.payloads MODIFY COLUMN billed_usage
    Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))
DEFAULT if(NOT match(summary, '(?:cach|thought|reasoning)\\w*"\\s*:\\s*"?[1-9]|:\\s*-|\\\\'), [],
    arrayFilter(
        bill -> (bill.2, bill.4, bill.5, bill.6, bill.7) != (0, 0, 0, 0, 0),
        arrayMap(
            -- model; input; the shape of Anthropic's API; read; written; for an hour; output; total; thoughts; reasoning
            u -> (
                u.1,
                multiIf(u.2 < 0, u.2, u.4 + u.5 > u.2, 0, u.4 + u.5),
                if(u.3 AND u.4 + u.5 <= u.2, u.4 + u.5, 0),
                u.4,
                u.5 - least(u.6, u.5),
                least(u.6, u.5),
                multiIf(u.8 = u.2 + u.7, 0, u.9 > 0, u.9, u.8 = u.2 + u.7 + u.10, u.10, 0)
            ),
            arrayMap(
                (model, u) -> (
                    model,
                    arraySum(arrayFilter(n -> abs(n) < 1e15, [u.prompt_tokens, u.input_tokens])),
                    u.prompt_tokens = 0 AND u.input_tokens > 0 AND (u.cache_read_input_tokens > 0 OR u.cache_creation_input_tokens > 0),
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.cache_read_input_tokens, u.prompt_tokens_details.cached_tokens,
                        u.input_tokens_details.cached_tokens, u.input_token_details.cached_tokens,
                        u.input_token_details.cache_read, u.cached_content_token_count, u.prompt_cache_hit_tokens, u.cached_tokens]),
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.cache_creation_input_tokens, u.prompt_tokens_details.cache_write_tokens,
                        u.input_tokens_details.cache_write_tokens, u.input_token_details.cache_creation]),
                    greatest(u.cache_creation.ephemeral_1h_input_tokens, 0),
                    u.completion_tokens + u.output_tokens,
                    u.total_tokens,
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.thoughts_tokens, u.thoughts_token_count]),
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.completion_tokens_details.reasoning_tokens, u.output_tokens_details.reasoning_tokens])
                ),
                mapKeys(JSONExtract(
                    -- a number beyond all counts would make the whole text unreadable
                    if(odd = 1, replaceRegexpAll(summary, '([:,\\[]\\s*-?)(?:\\d{17,}|[\\d.]+[eE][+-]?\\d{3,})', '\\10'), summary),
                    'usage',
                    'Map(String, Tuple(
                        prompt_tokens Int64, input_tokens Int64, completion_tokens Int64, output_tokens Int64, total_tokens Int64,
                        cache_read_input_tokens Int64, cache_creation_input_tokens Int64,
                        cache_creation Tuple(ephemeral_1h_input_tokens Int64),
                        prompt_tokens_details Tuple(cached_tokens Int64, cache_write_tokens Int64),
                        input_tokens_details Tuple(cached_tokens Int64, cache_write_tokens Int64),
                        input_token_details Tuple(cached_tokens Int64, cache_read Int64, cache_creation Int64),
                        cached_content_token_count Int64, prompt_cache_hit_tokens Int64, cached_tokens Int64,
                        thoughts_tokens Int64, thoughts_token_count Int64,
                        completion_tokens_details Tuple(reasoning_tokens Int64),
                        output_tokens_details Tuple(reasoning_tokens Int64)))'
                ) AS usage),
                mapValues(usage)
            )
        )
    ));

ALTER TABLE callhouse.payloads MODIFY COLUMN counts_cached UInt8
DEFAULT (toInt8(part) = 1 OR arrayExists(bill -> bill.apart > 0, billed_usage)) AND (otel_dump.size > 0
    OR (position(attributes, 'python-sdk') > 0 AND JSONExtractString(attributes, 'weave', 'source') = 'python-sdk'
        AND arrayMap(n -> toUInt32OrZero(n), splitByChar('.', JSONExtractString(attributes, 'weave', 'client_version'))) >= [0, 54]));

-- Finished calls that nothing is stored of, whose summaries hold nothing that the expressions would find: the worker
-- looks for that. The same columns as calls_in.
CREATE TABLE IF NOT EXISTS callhouse.unbilled_calls_in AS callhouse.calls_in ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_calls_in_to_calls TO callhouse.calls AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, id, trace_id, parent_id, thread_id, turn_id,
    op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    started_at AS output_at, error_count, usage_model, usage_requests, usage_input, usage_output, usage_total,
    usage_cache_read, usage_cache_write, end_bytes, '' AS display_name,
    clock AS start_ver, clock AS end_ver, toUInt64(0) AS name_ver, toUInt64(0) AS delete_ver,
    toUInt8(0) AS moved, start_ver + end_ver AS version
FROM callhouse.unbilled_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_calls_in_to_payloads TO callhouse.payloads AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS at, id,
    CAST(0, 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump,
    CAST([], 'Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))') AS billed_usage,
    toUInt8(0) AS counts_cached
FROM callhouse.unbilled_calls_in;
