-- What a bill needs to know beside the counts that a summary reports (docs/costs.md, docs/adr/0041).

-- By model: `inside`, cached tokens that the input count includes; `apart`, as many of them as lie outside of it if the
-- model is Anthropic's, whose API counts them apart; cached tokens that were read, and that were written for five minutes
-- and for an hour, under whatever key; output tokens that the output count leaves out. A model with none has no entry.
-- It is computed as rows come. Rows from before are computed when they are read, until a merge writes them.
ALTER TABLE callhouse.payloads ADD COLUMN IF NOT EXISTS billed_usage
    Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))
MATERIALIZED if(NOT match(summary, '(?:cach|thought|reasoning)\\w*"\\s*:\\s*"?[1-9]|:\\s*-|\\\\'), [],
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

-- Whether the input count includes what was cached although it has the shape of Anthropic's API, which counts that apart:
-- of spans, and of the Python SDK since 0.54, which adds it. A start tells it of an end that comes alone (part 1: of a part
-- that is older than the column the engine gives the number, not the name).
ALTER TABLE callhouse.payloads ADD COLUMN IF NOT EXISTS counts_cached UInt8
MATERIALIZED (toInt8(part) = 1 OR arrayExists(bill -> bill.apart > 0, billed_usage)) AND (otel_dump.size > 0
    OR (position(attributes, 'python-sdk') > 0 AND JSONExtractString(attributes, 'weave', 'source') = 'python-sdk'
        AND arrayMap(n -> toUInt32OrZero(n), splitByChar('.', JSONExtractString(attributes, 'weave', 'client_version'))) >= [0, 54]));

-- The sums of these by model; `apart` without the calls whose input count includes what was cached.
ALTER TABLE callhouse.call_stats
    ADD COLUMN IF NOT EXISTS usage_inside_sum Array(Float64),
    ADD COLUMN IF NOT EXISTS usage_apart_sum Array(Float64),
    ADD COLUMN IF NOT EXISTS usage_billed_read_sum Array(Float64),
    ADD COLUMN IF NOT EXISTS usage_billed_write_sum Array(Float64),
    ADD COLUMN IF NOT EXISTS usage_billed_write_1h_sum Array(Float64),
    ADD COLUMN IF NOT EXISTS usage_more_output_sum Array(Float64);

