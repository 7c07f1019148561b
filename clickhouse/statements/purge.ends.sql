-- Calls that stay and whose ends came alone, long before their start.
SELECT DISTINCT id
FROM callhouse.calls
WHERE project_id IN {projects:Array(String)} AND toUnixTimestamp64Micro(started_at) >= {before:Int64}
    AND toUnixTimestamp64Micro(output_at) < {before:Int64} AND end_ver > 0
