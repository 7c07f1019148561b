-- Version of the engine, and how much it stores in how many parts.
SELECT version() AS version, toFloat64(sum(bytes_on_disk)) AS bytes, toFloat64(count()) AS parts
FROM system.parts
WHERE active AND database = {database:String}
