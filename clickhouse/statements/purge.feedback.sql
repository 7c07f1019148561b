-- The next items of feedback about calls of a project, in the order of their ids.
SELECT
    id,
    any(weave_ref) AS weave_ref,
    substring(weave_ref, length({lead:String}) + 1) AS call,
    toUInt8(max(toUnixTimestamp64Micro(created_at)) < {before:Int64}) AS isOld
FROM callhouse.feedback
WHERE project_id = {project:String} AND purged = 0 AND startsWith(feedback.weave_ref, {lead:String}) AND id > {after:String}
GROUP BY id
ORDER BY id
LIMIT {limit:UInt32}
