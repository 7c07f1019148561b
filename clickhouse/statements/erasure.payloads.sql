-- Payloads of some calls, also what an earlier try has removed already: its indexed values may be left.
SELECT id, toString(toUnixTimestamp64Micro(at)) AS us
FROM callhouse.payloads
WHERE project_id = {project:String} AND id IN {ids:Array(String)}
SETTINGS apply_deleted_mask = 0
