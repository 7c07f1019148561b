-- When calls start that are stored.
SELECT key AS id, toString(max(toUnixTimestamp64Micro(started_at))) AS us
FROM callhouse.call_keys
WHERE project_id = {project:String} AND kind = 'id' AND key IN {ids:Array(String)}
GROUP BY id
