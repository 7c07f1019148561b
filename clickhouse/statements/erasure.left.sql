-- Erasures of which calls are left that they were to remove, as places in the lists of the parameters.
SELECT DISTINCT toString(n) AS n
FROM
(
    SELECT arrayJoin(arrayFilter(
        (n, project, until, removed) -> project = project_id AND deleted <= until AND part <= removed,
        range(toUInt32(length({projects:Array(String)}))),
        {projects:Array(String)}, {untils:Array(UInt64)}, {removed:Array(UInt64)}
    )) AS n
    FROM (${calls})
    WHERE project_id IN {projects:Array(String)}
)
