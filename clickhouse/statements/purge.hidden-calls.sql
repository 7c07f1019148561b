-- Part of other statements: hidden calls that start in a range of time.
SELECT project_id, id
FROM callhouse.calls
WHERE project_id IN {projects:Array(String)} AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    AND started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Micro({end:Int64}, 'UTC')
