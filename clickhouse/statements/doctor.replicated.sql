-- Tables that a cluster does not replicate.
SELECT name
FROM system.tables
WHERE database = {database:String} AND engine LIKE '%MergeTree' AND engine NOT LIKE 'Replicated%'
    AND engine NOT LIKE 'Shared%'
ORDER BY name
