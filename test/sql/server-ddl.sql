-- one server, another database
CREATE TABLE IF NOT EXISTS other.things_in (_record String, n UInt64) ENGINE = Null;
CREATE TABLE IF NOT EXISTS other.things (n UInt64, v UInt64, t String DEFAULT 'callhouse.things; ENGINE = MergeTree')
ENGINE = ReplacingMergeTree(v) ORDER BY n SETTINGS fsync_after_insert = 1;
CREATE TABLE IF NOT EXISTS other.plain (n UInt64) ENGINE = ReplacingMergeTree ORDER BY n;
CREATE MATERIALIZED VIEW IF NOT EXISTS other.things_in_to_things TO other.things AS SELECT n FROM other.things_in;
ALTER TABLE other.things_in ADD COLUMN IF NOT EXISTS m UInt64;
ALTER TABLE other.things ADD COLUMN IF NOT EXISTS m Map(String, UInt64) DEFAULT map('a,b', 1) CODEC(Delta(8), ZSTD(1)), MODIFY ORDER BY (n, v);
ALTER TABLE other.things MODIFY COLUMN t String CODEC(ZSTD(1, 23)) SETTINGS (max_compress_block_size = 8388608);
ALTER TABLE other.things ADD INDEX IF NOT EXISTS i n TYPE minmax;
INSERT INTO other.things (n) SELECT n FROM other.plain;

-- a cluster
CREATE TABLE IF NOT EXISTS callhouse.things_in ON CLUSTER main (_record String, n UInt64) ENGINE = Null;
CREATE TABLE IF NOT EXISTS callhouse.things ON CLUSTER main (n UInt64, v UInt64, t String DEFAULT 'callhouse.things; ENGINE = MergeTree')
ENGINE = ReplicatedReplacingMergeTree(v) ORDER BY n SETTINGS fsync_after_insert = 1;
CREATE TABLE IF NOT EXISTS callhouse.things_all ON CLUSTER main AS callhouse.things
ENGINE = Distributed(main, callhouse, things);
CREATE TABLE IF NOT EXISTS callhouse.plain ON CLUSTER main (n UInt64) ENGINE = ReplicatedReplacingMergeTree ORDER BY n;
CREATE TABLE IF NOT EXISTS callhouse.plain_all ON CLUSTER main AS callhouse.plain
ENGINE = Distributed(main, callhouse, plain);
CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.things_in_to_things ON CLUSTER main TO callhouse.things AS SELECT n FROM callhouse.things_in;
ALTER TABLE callhouse.things_in ON CLUSTER main ADD COLUMN IF NOT EXISTS m UInt64;
ALTER TABLE callhouse.things ON CLUSTER main ADD COLUMN IF NOT EXISTS m Map(String, UInt64) DEFAULT map('a,b', 1) CODEC(Delta(8), ZSTD(1)), MODIFY ORDER BY (n, v);
ALTER TABLE callhouse.things_all ON CLUSTER main ADD COLUMN IF NOT EXISTS m Map(String, UInt64) DEFAULT map('a,b', 1);
ALTER TABLE callhouse.things ON CLUSTER main MODIFY COLUMN t String CODEC(ZSTD(1, 23)) SETTINGS (max_compress_block_size = 8388608);
ALTER TABLE callhouse.things_all ON CLUSTER main MODIFY COLUMN t String;
ALTER TABLE callhouse.things ON CLUSTER main ADD INDEX IF NOT EXISTS i n TYPE minmax;
INSERT INTO callhouse.things (n) SELECT n FROM callhouse.plain;

-- the tables of one worker
CREATE TABLE IF NOT EXISTS other.calls_in_stage_w_a_00000000 AS other.calls_in ENGINE = Memory;
CREATE TABLE IF NOT EXISTS other.calls_touched_w_a_00000000 (id String) ENGINE = Memory;
ALTER TABLE other.calls_folded_w_a_00000000 ADD COLUMN IF NOT EXISTS x UInt8;
CREATE MATERIALIZED VIEW IF NOT EXISTS other.calls_in_to_batch_w_a_00000000 TO other.calls_batch_w_a_00000000 AS SELECT id FROM other.calls_in_stage_w_a_00000000;
