-- one server
CREATE DATABASE IF NOT EXISTS other_rebuild ENGINE = Atomic;
CREATE TABLE IF NOT EXISTS other_rebuild.state (at DateTime64(6) DEFAULT now64(6), owner String, sign UInt8, state String) ENGINE = MergeTree ORDER BY at;
DROP TABLE IF EXISTS other_rebuild.calls_mirror SETTINGS max_table_size_to_drop = 0;
DROP TABLE IF EXISTS other_rebuild.calls SETTINGS max_table_size_to_drop = 0;
DROP TABLE IF EXISTS callhouse.rebuild_calls_in;
CREATE DATABASE IF NOT EXISTS other_rebuild ENGINE = Atomic;
CREATE TABLE other_rebuild.calls AS callhouse.calls;
CREATE TABLE other_rebuild.payloads AS callhouse.payloads;
CREATE TABLE other_rebuild.calls_by_id AS callhouse.calls_by_id;
CREATE TABLE other_rebuild.turns AS callhouse.turns ENGINE = Null;
CREATE TABLE callhouse.rebuild_calls_in AS callhouse.calls_in;
CREATE MATERIALIZED VIEW other_rebuild.calls_in_to_calls TO other_rebuild.calls AS SELECT id FROM callhouse.rebuild_calls_in AS calls_in;
CREATE MATERIALIZED VIEW other_rebuild.calls_to_by_id TO other_rebuild.calls_by_id AS SELECT id FROM other_rebuild.calls;
CREATE MATERIALIZED VIEW IF NOT EXISTS other_rebuild.calls_mirror TO other_rebuild.calls AS SELECT * FROM callhouse.calls;
SELECT query_id AS id FROM system.processes WHERE query_kind = 'Insert' AND position(query, {begin:String}) > 0;
EXCHANGE TABLES callhouse.calls AND other_rebuild.calls, callhouse.payloads AND other_rebuild.payloads;
DROP DATABASE IF EXISTS other_rebuild SETTINGS max_table_size_to_drop = 0;
DROP TABLE IF EXISTS callhouse.rebuild_calls_in;

-- a cluster
CREATE DATABASE IF NOT EXISTS callhouse_rebuild ON CLUSTER main ENGINE = Atomic;
CREATE TABLE IF NOT EXISTS callhouse_rebuild.state ON CLUSTER main (at DateTime64(6) DEFAULT now64(6), owner String, sign UInt8, state String) ENGINE = ReplicatedMergeTree ORDER BY at;
DROP TABLE IF EXISTS callhouse_rebuild.calls_mirror ON CLUSTER main SETTINGS max_table_size_to_drop = 0;
DROP TABLE IF EXISTS callhouse_rebuild.calls ON CLUSTER main SETTINGS max_table_size_to_drop = 0;
DROP TABLE IF EXISTS callhouse.rebuild_calls_in ON CLUSTER main;
CREATE DATABASE IF NOT EXISTS callhouse_rebuild ON CLUSTER main ENGINE = Atomic;
CREATE TABLE callhouse_rebuild.calls ON CLUSTER main AS callhouse.calls;
CREATE TABLE callhouse_rebuild.payloads ON CLUSTER main AS callhouse.payloads;
CREATE TABLE callhouse_rebuild.calls_by_id ON CLUSTER main AS callhouse.calls_by_id;
CREATE TABLE callhouse_rebuild.turns ON CLUSTER main AS callhouse.turns ENGINE = Null;
CREATE TABLE callhouse.rebuild_calls_in ON CLUSTER main AS callhouse.calls_in;
CREATE MATERIALIZED VIEW callhouse_rebuild.calls_in_to_calls ON CLUSTER main TO callhouse_rebuild.calls AS SELECT id FROM callhouse.rebuild_calls_in AS calls_in;
CREATE MATERIALIZED VIEW callhouse_rebuild.calls_to_by_id ON CLUSTER main TO callhouse_rebuild.calls_by_id AS SELECT id FROM callhouse_rebuild.calls;
CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse_rebuild.calls_mirror ON CLUSTER main TO callhouse_rebuild.calls AS SELECT * FROM callhouse.calls;
SELECT query_id AS id FROM clusterAllReplicas(main, system.processes) WHERE query_kind = 'Insert' AND position(query, {begin:String}) > 0;
EXCHANGE TABLES callhouse.calls AND callhouse_rebuild.calls, callhouse.payloads AND callhouse_rebuild.payloads ON CLUSTER main;
DROP DATABASE IF EXISTS callhouse_rebuild ON CLUSTER main SETTINGS max_table_size_to_drop = 0;
DROP TABLE IF EXISTS callhouse.rebuild_calls_in ON CLUSTER main;
