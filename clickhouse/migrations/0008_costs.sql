-- Prices of projects: one row per price point; a purge is final, whichever clock it carries.

CREATE TABLE IF NOT EXISTS callhouse.costs_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    event Enum8('created' = 1, 'purged' = 2),
    user_id String,
    llm_id String,
    provider_id String,
    effective_us Int64,
    prompt_token_cost Float64,
    completion_token_cost Float64,
    cache_read_input_token_cost Float64,
    cache_creation_input_token_cost Float64,
    prompt_token_cost_unit String,
    completion_token_cost_unit String
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.costs
(
    project_id String,
    id String,
    version UInt64,
    purged UInt8,
    created_at DateTime64(6, 'UTC'),
    created_by LowCardinality(String),
    llm_id LowCardinality(String),
    provider_id LowCardinality(String),
    effective_date DateTime64(6, 'UTC'),
    prompt_token_cost Float64,
    completion_token_cost Float64,
    cache_read_input_token_cost Float64,
    cache_creation_input_token_cost Float64,
    prompt_token_cost_unit LowCardinality(String),
    completion_token_cost_unit LowCardinality(String)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- Accept clocks leave the highest bit free: with it a purge is above every creation, also one of a clock that runs ahead.
CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.costs_in_to_costs TO callhouse.costs AS
SELECT
    project_id, id,
    if(event = 'purged', bitOr(clock, 9223372036854775808), clock) AS version,
    event = 'purged' AS purged,
    fromUnixTimestamp64Micro(toInt64(intDiv(clock, 1024)), 'UTC') AS created_at,
    user_id AS created_by,
    llm_id, provider_id,
    fromUnixTimestamp64Micro(effective_us, 'UTC') AS effective_date,
    prompt_token_cost, completion_token_cost, cache_read_input_token_cost, cache_creation_input_token_cost,
    prompt_token_cost_unit, completion_token_cost_unit
FROM callhouse.costs_in;
