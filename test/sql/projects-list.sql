-- all projects (projects.list)
-- {"v0":0}
SELECT
    project_id AS project,
    toString(sum(n)) AS calls,
    toString(sum(n24)) AS calls24,
    toString(sum(e24)) AS errors24,
    min(first) AS first,
    max(last) AS last
FROM
(
    SELECT
        project_id,
        toInt64(calls) AS n,
        0 AS n24,
        0 AS e24,
        if(calls > 0, toUnixTimestamp(hour), 4294967295) AS first,
        0 AS last
    FROM callhouse.call_counts_hourly
    FINAL
    WHERE hour >= toDateTime({v0:Int64}, 'UTC')
    UNION ALL
    SELECT
        project_id,
        0,
        toInt64(sum(calls)),
        0,
        4294967295,
        max(if(calls > 0, toUnixTimestamp(minute), 0))
    FROM callhouse.call_counts
    FINAL
    WHERE minute >= (now() - toIntervalDay(1))
    GROUP BY project_id
    UNION ALL
    SELECT
        project_id,
        0,
        0,
        toInt64(sum(errors)),
        4294967295,
        0
    FROM callhouse.call_stats
    FINAL
    WHERE (seconds = 60) AND (bucket >= (now() - toIntervalDay(1)))
    GROUP BY project_id
    UNION ALL
    SELECT
        project_id,
        0,
        0,
        0,
        4294967295,
        max(if(calls > 0, toUnixTimestamp(hour), 0))
    FROM callhouse.call_counts_hourly
    FINAL
    WHERE hour >= toDateTime({v0:Int64}, 'UTC')
    GROUP BY project_id
    UNION ALL
    SELECT DISTINCT
        project_id,
        0,
        0,
        0,
        4294967295,
        0
    FROM callhouse.call_marks
    UNION ALL
    SELECT DISTINCT
        project_id,
        0,
        0,
        0,
        4294967295,
        0
    FROM callhouse.objects
)
GROUP BY project_id

-- projects with days of their own (projects.list)
-- {"v0":["ent/proj"],"v1":[3600],"v2":0}
SELECT
    project_id AS project,
    toString(sum(n)) AS calls,
    toString(sum(n24)) AS calls24,
    toString(sum(e24)) AS errors24,
    min(first) AS first,
    max(last) AS last
FROM
(
    SELECT
        project_id,
        toInt64(calls) AS n,
        0 AS n24,
        0 AS e24,
        if(calls > 0, toUnixTimestamp(hour), 4294967295) AS first,
        0 AS last
    FROM callhouse.call_counts_hourly
    FINAL
    WHERE hour >= toDateTime(transform(project_id, {v0:Array(String)}, {v1:Array(Int64)}, {v2:Int64}), 'UTC')
    UNION ALL
    SELECT
        project_id,
        0,
        toInt64(sum(calls)),
        0,
        4294967295,
        max(if(calls > 0, toUnixTimestamp(minute), 0))
    FROM callhouse.call_counts
    FINAL
    WHERE minute >= (now() - toIntervalDay(1))
    GROUP BY project_id
    UNION ALL
    SELECT
        project_id,
        0,
        0,
        toInt64(sum(errors)),
        4294967295,
        0
    FROM callhouse.call_stats
    FINAL
    WHERE (seconds = 60) AND (bucket >= (now() - toIntervalDay(1)))
    GROUP BY project_id
    UNION ALL
    SELECT
        project_id,
        0,
        0,
        0,
        4294967295,
        max(if(calls > 0, toUnixTimestamp(hour), 0))
    FROM callhouse.call_counts_hourly
    FINAL
    WHERE hour >= toDateTime(transform(project_id, {v0:Array(String)}, {v1:Array(Int64)}, {v2:Int64}), 'UTC')
    GROUP BY project_id
    UNION ALL
    SELECT DISTINCT
        project_id,
        0,
        0,
        0,
        4294967295,
        0
    FROM callhouse.call_marks
    UNION ALL
    SELECT DISTINCT
        project_id,
        0,
        0,
        0,
        4294967295,
        0
    FROM callhouse.objects
)
GROUP BY project_id
