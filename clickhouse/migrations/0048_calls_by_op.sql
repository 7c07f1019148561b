-- Calls, errors and latencies of a bucket by op and user, for rankings and charts (docs/adr/0012, "Operations and users").

-- An entry of these lists is of one op and user; its latencies are sorted, and hours have none. A bucket with more entries than
-- a row tells apart has none at all. Rows from before have none until they are counted again.
ALTER TABLE callhouse.call_stats
    ADD COLUMN IF NOT EXISTS call_op Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS call_user Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS call_count Array(UInt64),
    ADD COLUMN IF NOT EXISTS call_errors Array(UInt64),
    ADD COLUMN IF NOT EXISTS call_latencies Array(Array(UInt64)) CODEC(T64, ZSTD(1));
