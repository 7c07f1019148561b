-- Every table with rows of projects, but for what outlasts them.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree') AND name NOT IN {kept:Array(String)}
    AND name IN (SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'project_id')
ORDER BY name
