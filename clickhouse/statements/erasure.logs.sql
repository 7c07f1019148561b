-- The next deleted log records of a project that are still stored, in the order of their times.
SELECT id, toString(toUnixTimestamp64Nano(at)) AS ns, toString(deleted) AS ver, toString(part) AS part
FROM (${logs})
WHERE (at, id) > (fromUnixTimestamp64Nano({after_ns:Int64}, 'UTC'), {after:String})
ORDER BY at, id
LIMIT {limit:UInt32}
