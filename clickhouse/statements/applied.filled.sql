-- Whether any of the other tables holds rows.
SELECT name
FROM system.tables
WHERE database = {database:String} AND endsWith(engine, 'MergeTree') AND name NOT IN {others:Array(String)}
    AND position(name, '_w_') = 0 AND total_rows > 0
LIMIT 1
