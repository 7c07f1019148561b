-- accepted bytes of a project (usage.accepted-bytes)
-- {"v0":"ent/proj","v1":"p1","v2":60}
SELECT toString(sum(bytes_stored)) AS bytes
FROM callhouse.usage_minutes
FINAL
WHERE (project_id = {v0:String}) AND (minute >= (now('UTC') - toIntervalHour(24))) AND (NOT ((process = {v1:String}) AND (minute >= toDateTime({v2:Int64}, 'UTC'))))

-- accepted bytes of an entity (usage.accepted-bytes)
-- {"v0":"ent/","v1":"p1","v2":60}
SELECT toString(sum(bytes_stored)) AS bytes
FROM callhouse.usage_minutes
FINAL
WHERE startsWith(project_id, {v0:String}) AND (minute >= (now('UTC') - toIntervalHour(24))) AND (NOT ((process = {v1:String}) AND (minute >= toDateTime({v2:Int64}, 'UTC'))))

-- projects of an entity (usage.projects-of-entity)
-- {"v0":"ent/"}
SELECT DISTINCT project_id
FROM
(
    SELECT project_id
    FROM callhouse.call_counts_hourly
    UNION ALL
    SELECT project_id
    FROM callhouse.usage_minutes
    UNION ALL
    SELECT project_id
    FROM callhouse.objects
    UNION ALL
    SELECT project_id
    FROM callhouse.files
)
WHERE startsWith(project_id, {v0:String})
