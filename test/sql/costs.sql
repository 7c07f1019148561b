-- prices for calls (costs.prices)
-- {"v0":"ent/proj"}
SELECT
    id,
    llm_id,
    provider_id,
    toUnixTimestamp64Micro(effective_date) AS effective_us,
    toUnixTimestamp64Micro(created_at) AS created_us,
    created_by,
    prompt_token_cost,
    completion_token_cost,
    cache_read_input_token_cost,
    cache_creation_input_token_cost,
    prompt_token_cost_unit,
    completion_token_cost_unit
FROM callhouse.costs
FINAL
WHERE (project_id = {v0:String}) AND (NOT purged)
ORDER BY
    created_at DESC,
    id DESC

-- models whose prices a query needs (costs.models)
-- {"v0":"ent/proj"}
SELECT DISTINCT arrayJoin(usage_model) AS model
FROM callhouse.calls
WHERE project_id = {v0:String}
ORDER BY model ASC

-- prices as they are listed (costs.query)
-- {"v0":"ent/proj","v1":"gpt","v2":10,"v3":5}
SELECT
    c.id AS id,
    c.llm_id AS llm_id,
    c.prompt_token_cost AS prompt_token_cost,
    c.completion_token_cost AS completion_token_cost,
    c.cache_read_input_token_cost AS cache_read_input_token_cost,
    c.cache_creation_input_token_cost AS cache_creation_input_token_cost,
    c.prompt_token_cost_unit AS prompt_token_cost_unit,
    c.completion_token_cost_unit AS completion_token_cost_unit,
    toUnixTimestamp64Micro(c.effective_date) AS effective_us,
    c.provider_id AS provider_id
FROM callhouse.costs AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((NOT c.purged) AND (c.llm_id = {v1:String}))
ORDER BY c.id ASC
LIMIT {v3:UInt64}, {v2:UInt64}
