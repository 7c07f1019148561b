-- Usage of a bucket by op and user as well as by model, for charts of tokens and costs (docs/adr/0012, "Operations and users").

-- An entry of the usage lists is of one op, user, model and `usage_top`. In a bucket with more of them than a row tells apart
-- all ops and users are '', and `usage_is_by_model` is 1. Rows from before have no ops and users until they are counted again.
ALTER TABLE callhouse.call_stats
    ADD COLUMN IF NOT EXISTS usage_op Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS usage_user Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS usage_is_by_model UInt8;
