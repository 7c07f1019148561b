-- Names of counts that the expression of 0028_unbilled_calls.sql did not know: those of providers' own APIs (as
-- services/content/usage-names.ts has them), newer ones of cached tokens and reasoning, and reasoning of Google's models that the
-- total alone tells. What is stored stays as it was computed.
ALTER TABLE callhouse.payloads MODIFY COLUMN billed_usage
    Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))
DEFAULT if(NOT match(summary, '(?:[cC]ach|[tT]hought|[rR]easoning|ephemeral|[tT]ool_?[uU]se)\\w*"\\s*:\\s*"?[1-9]|[gG]em(?:ini|ma)|:\\s*-|\\\\'), [],
    arrayFilter(
        bill -> (bill.2, bill.4, bill.5, bill.6, bill.7) != (0, 0, 0, 0, 0),
        arrayMap(
            -- model; input; the shape of Anthropic's API; read; written; for an hour; output; total; thoughts; reasoning;
            -- prompts of tools; whether the total tells of thoughts
            u -> (
                u.1,
                multiIf(u.2 < 0, u.2, u.4 + u.5 > u.2, 0, u.4 + u.5) - u.11,
                if(u.3 AND u.4 + u.5 <= u.2, u.4 + u.5, 0),
                u.4,
                u.5 - least(u.6, u.5),
                least(u.6, u.5),
                multiIf(u.8 = u.2 + u.7, 0, u.9 > 0, u.9, u.8 = u.2 + u.7 + u.10, u.10, u.12 AND u.2 > 0 AND u.8 > u.2 + u.7 + u.11, u.8 - u.2 - u.7 - u.11, 0)
            ),
            arrayMap(
                (model, u) -> (
                    model,
                    arrayFirst(n -> n != 0, [arraySum(arrayFilter(n -> abs(n) < 1e15, [u.prompt_tokens, u.input_tokens])),
                        u.promptTokenCount, u.prompt_token_count, u.inputTokens, u.inputTokenCount, u.input_token_count,
                        u.promptTokens]),
                    (u.prompt_tokens = 0 AND u.input_tokens > 0 AND (u.cache_read_input_tokens > 0 OR u.cache_creation_input_tokens > 0))
                        OR (u.inputTokens > 0 AND (u.cacheReadInputTokens > 0 OR u.cacheWriteInputTokens > 0)),
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.cache_read_input_tokens, u.prompt_tokens_details.cached_tokens,
                        u.input_tokens_details.cached_tokens, u.input_token_details.cached_tokens,
                        u.input_token_details.cache_read, u.cached_content_token_count, u.prompt_cache_hit_tokens, u.cached_tokens,
                        u.prompt_tokens_details.cache_read_tokens, u.prompt_tokens_details.cache_read_input_tokens,
                        u.cachedContentTokenCount, u.cacheReadInputTokens, u.cacheReadInputTokenCount, u.cache_read_tokens,
                        u.cached_input_tokens, u.inputTokenDetails.cacheReadTokens, u.cachedInputTokens]),
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.cache_creation_input_tokens, u.prompt_tokens_details.cache_write_tokens,
                        u.input_tokens_details.cache_write_tokens, u.input_token_details.cache_creation,
                        u.prompt_tokens_details.cache_creation_tokens, u.prompt_tokens_details.cache_creation_input_tokens,
                        u.input_tokens_details.cache_creation_tokens, u.cacheWriteInputTokens, u.cacheWriteInputTokenCount,
                        u.cache_write_tokens, u.cache_write_input_tokens, u.cache_creation_tokens, u.inputTokenDetails.cacheWriteTokens,
                        u.input_token_details.ephemeral_5m_input_tokens + u.input_token_details.ephemeral_1h_input_tokens]),
                    arrayFirst(n -> n > 0, [u.cache_creation.ephemeral_1h_input_tokens, u.input_token_details.ephemeral_1h_input_tokens,
                        u.prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens]),
                    arrayFirst(n -> n != 0, [u.completion_tokens + u.output_tokens, u.candidatesTokenCount, u.candidates_token_count,
                        u.outputTokens, u.outputTokenCount, u.generated_token_count, u.completionTokens]),
                    arrayFirst(n -> n != 0, [u.total_tokens, u.totalTokenCount, u.total_token_count, u.totalTokens]),
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.thoughts_tokens, u.thoughts_token_count, u.thoughtsTokenCount]),
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.completion_tokens_details.reasoning_tokens, u.output_tokens_details.reasoning_tokens,
                        u.output_token_details.reasoning, u.outputTokenDetails.reasoningTokens, u.reasoning_tokens, u.reasoningTokens]),
                    arrayFirst(n -> n BETWEEN 1 AND 1e15, [u.toolUsePromptTokenCount, u.tool_use_prompt_token_count]),
                    match(model, '(?i)gemini|gemma')
                ),
                mapKeys(JSONExtract(
                    -- a number beyond all counts would make the whole text unreadable
                    if(odd = 1, replaceRegexpAll(summary, '([:,\\[]\\s*-?)(?:\\d{17,}|[\\d.]+[eE][+-]?\\d{3,})', '\\10'), summary),
                    'usage',
                    'Map(String, Tuple(
                        prompt_tokens Int64, input_tokens Int64, completion_tokens Int64, output_tokens Int64, total_tokens Int64,
                        promptTokenCount Int64, prompt_token_count Int64, inputTokens Int64, inputTokenCount Int64,
                        input_token_count Int64, promptTokens Int64, candidatesTokenCount Int64, candidates_token_count Int64,
                        outputTokens Int64, outputTokenCount Int64, generated_token_count Int64, completionTokens Int64,
                        totalTokenCount Int64, total_token_count Int64, totalTokens Int64,
                        toolUsePromptTokenCount Int64, tool_use_prompt_token_count Int64,
                        cache_read_input_tokens Int64, cache_creation_input_tokens Int64,
                        cache_creation Tuple(ephemeral_1h_input_tokens Int64),
                        prompt_tokens_details Tuple(cached_tokens Int64, cache_write_tokens Int64, cache_read_tokens Int64,
                            cache_read_input_tokens Int64, cache_creation_tokens Int64, cache_creation_input_tokens Int64,
                            cache_creation_token_details Tuple(ephemeral_1h_input_tokens Int64)),
                        input_tokens_details Tuple(cached_tokens Int64, cache_write_tokens Int64, cache_creation_tokens Int64),
                        input_token_details Tuple(cached_tokens Int64, cache_read Int64, cache_creation Int64,
                            ephemeral_5m_input_tokens Int64, ephemeral_1h_input_tokens Int64),
                        inputTokenDetails Tuple(cacheReadTokens Int64, cacheWriteTokens Int64),
                        cached_content_token_count Int64, cachedContentTokenCount Int64, prompt_cache_hit_tokens Int64,
                        cached_tokens Int64, cached_input_tokens Int64, cachedInputTokens Int64,
                        cacheReadInputTokens Int64, cacheReadInputTokenCount Int64, cache_read_tokens Int64,
                        cacheWriteInputTokens Int64, cacheWriteInputTokenCount Int64, cache_write_tokens Int64,
                        cache_write_input_tokens Int64, cache_creation_tokens Int64,
                        thoughts_tokens Int64, thoughts_token_count Int64, thoughtsTokenCount Int64,
                        reasoning_tokens Int64, reasoningTokens Int64,
                        completion_tokens_details Tuple(reasoning_tokens Int64),
                        output_tokens_details Tuple(reasoning_tokens Int64),
                        output_token_details Tuple(reasoning Int64),
                        outputTokenDetails Tuple(reasoningTokens Int64)))'
                ) AS usage),
                mapValues(usage)
            )
        )
    ));
