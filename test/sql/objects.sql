-- all versions (objects.list)
-- {"v0":"ent/proj","v1":10,"v2":5}
SELECT
    v.object_id AS object_id,
    v.kind AS kind,
    v.digest AS digest,
    toInt64(intDiv(v.created_clock, 1024)) AS created_us,
    v.version_index AS version_index,
    toUInt8(v.latest_rank = 1) AS is_latest,
    v.creator AS creator,
    c.base_object_class AS base_object_class,
    c.leaf_object_class AS leaf_object_class,
    toString(c.size_bytes) AS size_bytes
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
) AS v
INNER JOIN
(
    SELECT
        object_id,
        kind,
        digest,
        base_object_class,
        leaf_object_class,
        size_bytes
    FROM callhouse.objects
    FINAL
    WHERE (project_id = {v0:String}) AND (1)
) AS c ON (v.object_id = c.object_id) AND (v.kind = c.kind) AND (v.digest = c.digest)
WHERE v.live
ORDER BY
    v.created_clock ASC,
    v.version_index ASC,
    v.object_id ASC,
    v.kind ASC
LIMIT {v2:UInt64}, {v1:UInt64}

-- versions by classes, tags and aliases (objects.list)
-- {"v0":"ent/proj","v1":["model"],"v2":["Model"],"v3":["M"],"v4":["Prompt"],"v5":"tag","v6":["good"],"v7":"alias","v8":["latest","prod"],"v9":10,"v10":5}
SELECT
    v.object_id AS object_id,
    v.kind AS kind,
    v.digest AS digest,
    toInt64(intDiv(v.created_clock, 1024)) AS created_us,
    v.version_index AS version_index,
    toUInt8(v.latest_rank = 1) AS is_latest,
    v.creator AS creator,
    c.base_object_class AS base_object_class,
    c.leaf_object_class AS leaf_object_class,
    toString(c.size_bytes) AS size_bytes
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
            WHERE (project_id = {v0:String}) AND (object_id IN ({v1:Array(String)}))
            GROUP BY
                object_id,
                kind,
                digest
            HAVING first_clock > 0
        )
    )
) AS v
INNER JOIN
(
    SELECT
        object_id,
        kind,
        digest,
        base_object_class,
        leaf_object_class,
        size_bytes
    FROM callhouse.objects
    FINAL
    WHERE (project_id = {v0:String}) AND (object_id IN ({v1:Array(String)}))
) AS c ON (v.object_id = c.object_id) AND (v.kind = c.kind) AND (v.digest = c.digest)
WHERE v.live AND (c.base_object_class IN ({v2:Array(String)})) AND (c.leaf_object_class IN ({v3:Array(String)})) AND ((c.base_object_class = '') OR (NOT (c.base_object_class IN ({v4:Array(String)})))) AND (v.kind != 'op') AND (v.latest_rank = 1) AND ((v.object_id, v.digest) IN (
    SELECT
        object_id,
        digest
    FROM
    (
        SELECT
            l.object_id AS object_id,
            l.digest AS digest,
            l.label_kind AS label_kind,
            l.label AS label
        FROM
        (
            SELECT
                object_id,
                digest,
                label_kind,
                label,
                clock
            FROM callhouse.object_labels
            FINAL
            WHERE (project_id = {v0:String}) AND ((is_set = 1) AND ((label_kind = {v5:String}) AND (label IN ({v6:Array(String)}))))
        ) AS l
        INNER JOIN
        (
            SELECT
                object_id,
                digest,
                maxIf(clock, event = 'deleted') AS newest_delete
            FROM callhouse.object_events
            WHERE (project_id = {v0:String}) AND (object_id IN (
                SELECT object_id
                FROM callhouse.object_labels
                WHERE (project_id = {v0:String}) AND ((label_kind = {v5:String}) AND (label IN ({v6:Array(String)})))
            ))
            GROUP BY
                object_id,
                digest
            HAVING maxIf(clock, event = 'created') > newest_delete
        ) AS e ON (l.object_id = e.object_id) AND (l.digest = e.digest)
        WHERE l.clock > e.newest_delete
    )
)) AND ((v.latest_rank = 1) OR ((v.object_id, v.digest) IN (
    SELECT
        object_id,
        digest
    FROM
    (
        SELECT
            l.object_id AS object_id,
            l.digest AS digest,
            l.label_kind AS label_kind,
            l.label AS label
        FROM
        (
            SELECT
                object_id,
                digest,
                label_kind,
                label,
                clock
            FROM callhouse.object_labels
            FINAL
            WHERE (project_id = {v0:String}) AND ((is_set = 1) AND ((label_kind = {v7:String}) AND (label IN ({v8:Array(String)}))))
        ) AS l
        INNER JOIN
        (
            SELECT
                object_id,
                digest,
                maxIf(clock, event = 'deleted') AS newest_delete
            FROM callhouse.object_events
            WHERE (project_id = {v0:String}) AND (object_id IN (
                SELECT object_id
                FROM callhouse.object_labels
                WHERE (project_id = {v0:String}) AND ((label_kind = {v7:String}) AND (label IN ({v8:Array(String)})))
            ))
            GROUP BY
                object_id,
                digest
            HAVING maxIf(clock, event = 'created') > newest_delete
        ) AS e ON (l.object_id = e.object_id) AND (l.digest = e.digest)
        WHERE l.clock > e.newest_delete
    )
)))
ORDER BY
    v.created_clock DESC,
    v.version_index ASC,
    v.object_id ASC,
    v.kind ASC
LIMIT {v10:UInt64}, {v9:UInt64}

-- values of versions (objects.values)
-- {"v0":"ent/proj","v1":["model"],"v2":["d1"],"v3":["model:object:d1"]}
SELECT
    object_id,
    kind,
    digest,
    val
FROM callhouse.objects
WHERE (project_id = {v0:String}) AND ((object_id IN ({v1:Array(String)})) AND (digest IN ({v2:Array(String)})) AND (concat(object_id, ':', toString(kind), ':', digest) IN ({v3:Array(String)})))
ORDER BY clock DESC
LIMIT 1 BY
    object_id,
    kind,
    digest

-- a version by its digest (objects.version)
-- {"v0":"ent/proj","v1":"model","v2":"d1"}
SELECT
    kind,
    digest,
    toInt64(intDiv(created_clock, 1024)) AS created_us,
    toInt64(intDiv(deleted_clock, 1024)) AS deleted_us,
    version_index,
    latest_rank,
    live,
    creator
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
            WHERE (project_id = {v0:String}) AND (object_id = {v1:String})
            GROUP BY
                object_id,
                kind,
                digest
            HAVING first_clock > 0
        )
    )
)
WHERE digest = {v2:String}
ORDER BY
    live DESC,
    first_clock ASC
LIMIT 1

-- the latest version (objects.version)
-- {"v0":"ent/proj","v1":"model"}
SELECT
    kind,
    digest,
    toInt64(intDiv(created_clock, 1024)) AS created_us,
    toInt64(intDiv(deleted_clock, 1024)) AS deleted_us,
    version_index,
    latest_rank,
    live,
    creator
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
            WHERE (project_id = {v0:String}) AND (object_id = {v1:String})
            GROUP BY
                object_id,
                kind,
                digest
            HAVING first_clock > 0
        )
    )
)
WHERE latest_rank = 1
ORDER BY
    live DESC,
    first_clock ASC
LIMIT 1

-- a version by its number (objects.version)
-- {"v0":"ent/proj","v1":"model","v2":3}
SELECT
    kind,
    digest,
    toInt64(intDiv(created_clock, 1024)) AS created_us,
    toInt64(intDiv(deleted_clock, 1024)) AS deleted_us,
    version_index,
    latest_rank,
    live,
    creator
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
            WHERE (project_id = {v0:String}) AND (object_id = {v1:String})
            GROUP BY
                object_id,
                kind,
                digest
            HAVING first_clock > 0
        )
    )
)
WHERE version_index = {v2:UInt32}
ORDER BY
    live DESC,
    first_clock ASC
LIMIT 1

-- the content of a version (objects.content)
-- {"v0":"ent/proj","v1":"model","v2":"d1"}
SELECT
    kind,
    base_object_class,
    leaf_object_class,
    val
FROM callhouse.objects
WHERE (project_id = {v0:String}) AND ((object_id = {v1:String}) AND (digest = {v2:String}))
ORDER BY
    kind ASC,
    clock DESC
LIMIT 1 BY kind

-- labels of objects (objects.labels)
-- {"v0":"ent/proj","v1":["model"]}
SELECT
    l.object_id AS object_id,
    l.digest AS digest,
    l.label_kind AS label_kind,
    l.label AS label
FROM
(
    SELECT
        object_id,
        digest,
        label_kind,
        label,
        clock
    FROM callhouse.object_labels
    FINAL
    WHERE (project_id = {v0:String}) AND ((is_set = 1) AND (object_id IN ({v1:Array(String)})))
) AS l
INNER JOIN
(
    SELECT
        object_id,
        digest,
        maxIf(clock, event = 'deleted') AS newest_delete
    FROM callhouse.object_events
    WHERE (project_id = {v0:String}) AND (object_id IN (
        SELECT object_id
        FROM callhouse.object_labels
        WHERE (project_id = {v0:String}) AND (object_id IN ({v1:Array(String)}))
    ))
    GROUP BY
        object_id,
        digest
    HAVING maxIf(clock, event = 'created') > newest_delete
) AS e ON (l.object_id = e.object_id) AND (l.digest = e.digest)
WHERE l.clock > e.newest_delete
ORDER BY label ASC

-- an alias (objects.alias)
-- {"v0":"ent/proj","v1":"model","v2":"prod"}
SELECT
    l.object_id AS object_id,
    l.digest AS digest,
    l.label_kind AS label_kind,
    l.label AS label
FROM
(
    SELECT
        object_id,
        digest,
        label_kind,
        label,
        clock
    FROM callhouse.object_labels
    FINAL
    WHERE (project_id = {v0:String}) AND ((is_set = 1) AND ((object_id = {v1:String}) AND (label_kind = 'alias') AND (label = {v2:String})))
) AS l
INNER JOIN
(
    SELECT
        object_id,
        digest,
        maxIf(clock, event = 'deleted') AS newest_delete
    FROM callhouse.object_events
    WHERE (project_id = {v0:String}) AND (object_id IN (
        SELECT object_id
        FROM callhouse.object_labels
        WHERE (project_id = {v0:String}) AND ((object_id = {v1:String}) AND (label_kind = 'alias') AND (label = {v2:String}))
    ))
    GROUP BY
        object_id,
        digest
    HAVING maxIf(clock, event = 'created') > newest_delete
) AS e ON (l.object_id = e.object_id) AND (l.digest = e.digest)
WHERE l.clock > e.newest_delete

-- all tags (objects.distinct-labels)
-- {"v0":"ent/proj","v1":"tag"}
SELECT DISTINCT label
FROM
(
    SELECT
        l.object_id AS object_id,
        l.digest AS digest,
        l.label_kind AS label_kind,
        l.label AS label
    FROM
    (
        SELECT
            object_id,
            digest,
            label_kind,
            label,
            clock
        FROM callhouse.object_labels
        FINAL
        WHERE (project_id = {v0:String}) AND ((is_set = 1) AND (label_kind = {v1:String}))
    ) AS l
    INNER JOIN
    (
        SELECT
            object_id,
            digest,
            maxIf(clock, event = 'deleted') AS newest_delete
        FROM callhouse.object_events
        WHERE (project_id = {v0:String}) AND (object_id IN (
            SELECT object_id
            FROM callhouse.object_labels
            WHERE (project_id = {v0:String}) AND (label_kind = {v1:String})
        ))
        GROUP BY
            object_id,
            digest
        HAVING maxIf(clock, event = 'created') > newest_delete
    ) AS e ON (l.object_id = e.object_id) AND (l.digest = e.digest)
    WHERE l.clock > e.newest_delete
)
ORDER BY label ASC

-- base classes of a name (objects.base-classes)
-- {"v0":"ent/proj","v1":"model","v2":"object"}
SELECT DISTINCT base_object_class
FROM
(
    SELECT argMaxIf(base_object_class, clock, event = 'created') AS base_object_class
    FROM callhouse.object_events
    WHERE (project_id = {v0:String}) AND ((object_id = {v1:String}) AND (kind = {v2:String}))
    GROUP BY digest
    HAVING maxIf(clock, event = 'created') > maxIf(clock, event = 'deleted')
)
