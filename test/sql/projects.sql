-- bytes of calls (projects.call-bytes)
-- {"v0":"ent/proj"}
SELECT toString(sum(c.start_bytes + c.end_bytes)) AS bytes
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.delete_ver = 0) AND (c.moved = 0))

-- bytes of objects (projects.object-bytes)
-- {"v0":"ent/proj"}
SELECT toString(sum(c.size_bytes)) AS bytes
FROM callhouse.objects AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.object_id, c.kind, c.digest) IN (
    SELECT
        object_id,
        kind,
        digest
    FROM
    (
        SELECT
            object_id,
            kind,
            digest,
            first_clock,
            created_clock,
            deleted_clock,
            live,
            creator,
            toUInt32(row_number() OVER (PARTITION BY object_id, kind ORDER BY first_clock ASC, digest ASC) - 1) AS version_index,
            row_number() OVER (PARTITION BY object_id ORDER BY live DESC, pointed DESC, first_clock DESC, digest DESC) AS latest_rank
        FROM
        (
            SELECT
                *,
                last_clock = max(last_clock) OVER (PARTITION BY object_id) AS pointed
            FROM
            (
                SELECT
                    object_id,
                    kind,
                    digest,
                    minIf(clock, event = 'created') AS first_clock,
                    maxIf(clock, event = 'created') AS last_clock,
                    maxIf(clock, event = 'deleted') AS newest_delete,
                    last_clock > newest_delete AS live,
                    if(live, 0, newest_delete) AS deleted_clock,
                    arraySort(groupArrayIf((clock, toString(user_id)), event = 'created')) AS creations,
                    arrayFirst(creation -> ((NOT live) OR ((creation.1) > newest_delete)), creations) AS creation,
                    creation.1 AS created_clock,
                    creation.2 AS creator
                FROM callhouse.object_events
                WHERE (project_id = {v0:String}) AND (1)
                GROUP BY
                    object_id,
                    kind,
                    digest
                HAVING first_clock > 0
            )
        )
    )
    WHERE live
))

-- bytes of tables (projects.table-bytes)
-- {"v0":"ent/proj"}
SELECT toString(sum(size_bytes)) AS bytes
FROM callhouse.table_rows
FINAL
WHERE project_id = {v0:String}
