-- How many shards a cluster has.
SELECT toUInt32(uniqExact(shard_num)) AS n
FROM system.clusters
WHERE cluster = {cluster:String}
