-- Tables with their engines and settings.
SELECT name, engine, engine_full AS full
FROM system.tables
WHERE database = {database:String} AND engine LIKE '%MergeTree'
ORDER BY name
