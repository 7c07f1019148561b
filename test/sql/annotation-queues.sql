-- one queue (annotation-queues.list)
-- {"v0":"ent/proj","v1":"q","v2":1,"v3":0}
SELECT
    queue_id AS id,
    argMaxIf(text, clock, part = 'name') AS name,
    argMaxIf(text, clock, part = 'description') AS description,
    argMaxIf(refs, clock, part = 'scorer_refs') AS scorer_refs,
    intDiv(maxIf(clock, part = 'created'), 1024) AS created_us,
    intDiv(max(clock), 1024) AS updated_us,
    argMaxIf(user_id, clock, part = 'created') AS created_by
FROM callhouse.annotation_queues
WHERE (project_id = {v0:String}) AND (queue_id = {v1:String})
GROUP BY queue_id
HAVING (created_us > 0) AND (countIf(part = 'deleted') = 0) AND (1)
ORDER BY id ASC
LIMIT {v3:UInt64}, {v2:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- items of a queue (annotation-queues.items)
-- {"v0":"ent/proj","v1":"q","v2":50,"v3":0}
SELECT
    id,
    q.call_id,
    started_us,
    ended_us,
    op_name,
    trace_id,
    display_fields,
    added_us,
    added_by,
    if(shown = '', 'unstarted', shown) AS state,
    p.annotator,
    position
FROM
(
    SELECT *
    FROM
    (
        SELECT
            i.id AS id,
            i.call_id AS call_id,
            toUnixTimestamp64Micro(i.call_started_at) AS started_us,
            toUnixTimestamp64Micro(i.call_ended_at) AS ended_us,
            i.call_op_name AS op_name,
            i.call_trace_id AS trace_id,
            i.display_fields AS display_fields,
            intDiv(i.clock, 1024) AS added_us,
            i.added_by AS added_by,
            0 AS position
        FROM callhouse.annotation_queue_items AS i
        FINAL
        WHERE (i.project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id NOT IN (
            SELECT id
            FROM callhouse.calls_deleted
            WHERE (project_id = {v0:String}) AND (id IN (
                SELECT call_id
                FROM callhouse.annotation_queue_items
                WHERE (project_id = {v0:String}) AND (queue_id = {v1:String})
            ))
        )))
    ) AS q
    ORDER BY
        added_us ASC,
        id ASC
    LIMIT {v3:UInt64}, {v2:UInt64}
) AS q
LEFT JOIN
(
    SELECT
        call_id,
        argMax(toString(state), clock) AS shown,
        argMax(annotator, clock) AS annotator
    FROM callhouse.annotation_queue_progress
    FINAL
    WHERE (project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id IN (
        SELECT call_id
        FROM
        (
            SELECT *
            FROM
            (
                SELECT
                    i.id AS id,
                    i.call_id AS call_id,
                    toUnixTimestamp64Micro(i.call_started_at) AS started_us,
                    toUnixTimestamp64Micro(i.call_ended_at) AS ended_us,
                    i.call_op_name AS op_name,
                    i.call_trace_id AS trace_id,
                    i.display_fields AS display_fields,
                    intDiv(i.clock, 1024) AS added_us,
                    i.added_by AS added_by,
                    0 AS position
                FROM callhouse.annotation_queue_items AS i
                FINAL
                WHERE (i.project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id NOT IN (
                    SELECT id
                    FROM callhouse.calls_deleted
                    WHERE (project_id = {v0:String}) AND (id IN (
                        SELECT call_id
                        FROM callhouse.annotation_queue_items
                        WHERE (project_id = {v0:String}) AND (queue_id = {v1:String})
                    ))
                )))
            ) AS q
            ORDER BY
                added_us ASC,
                id ASC
            LIMIT {v3:UInt64}, {v2:UInt64}
        )
    )))
    GROUP BY call_id
) AS p ON p.call_id = q.call_id
ORDER BY
    added_us ASC,
    id ASC
SETTINGS output_format_json_quote_64bit_integers = 0, max_result_bytes = 33554432

-- unstarted items with their positions (annotation-queues.items)
-- {"v0":"ent/proj","v1":"q","v2":"op","v3":["unstarted"],"v4":9007199254740991,"v5":10}
SELECT
    id,
    q.call_id,
    started_us,
    ended_us,
    op_name,
    trace_id,
    display_fields,
    added_us,
    added_by,
    if(shown = '', 'unstarted', shown) AS state,
    p.annotator,
    position
FROM
(
    SELECT
        i.id AS id,
        i.call_id AS call_id,
        toUnixTimestamp64Micro(i.call_started_at) AS started_us,
        toUnixTimestamp64Micro(i.call_ended_at) AS ended_us,
        i.call_op_name AS op_name,
        i.call_trace_id AS trace_id,
        i.display_fields AS display_fields,
        intDiv(i.clock, 1024) AS added_us,
        i.added_by AS added_by,
        row_number() OVER (ORDER BY started_us DESC, id ASC) AS position
    FROM callhouse.annotation_queue_items AS i
    FINAL
    WHERE (i.project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id NOT IN (
        SELECT id
        FROM callhouse.calls_deleted
        WHERE (project_id = {v0:String}) AND (id IN (
            SELECT call_id
            FROM callhouse.annotation_queue_items
            WHERE (project_id = {v0:String}) AND (queue_id = {v1:String})
        ))
    )))
) AS q
LEFT JOIN
(
    SELECT
        call_id,
        argMax(toString(state), clock) AS shown,
        argMax(annotator, clock) AS annotator
    FROM callhouse.annotation_queue_progress
    FINAL
    WHERE (project_id = {v0:String}) AND (queue_id = {v1:String})
    GROUP BY call_id
) AS p ON p.call_id = q.call_id
WHERE (op_name = {v2:String}) AND (state IN ({v3:Array(String)}))
ORDER BY
    started_us DESC,
    id ASC
LIMIT {v5:UInt64}, {v4:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0, max_result_bytes = 33554432

-- keys of unstarted items with their positions (annotation-queues.keys)
-- {"v0":"ent/proj","v1":"q","v2":["unstarted"],"v3":100,"v4":200}
SELECT
    q.call_id,
    size,
    position,
    if(shown = '', 'unstarted', shown) AS state
FROM
(
    SELECT
        i.id AS id,
        i.call_id AS call_id,
        toUnixTimestamp64Micro(i.call_started_at) AS started_us,
        toUnixTimestamp64Micro(i.call_ended_at) AS ended_us,
        i.call_op_name AS op_name,
        i.call_trace_id AS trace_id,
        byteSize(i.display_fields, i.call_op_name) AS size,
        intDiv(i.clock, 1024) AS added_us,
        i.added_by AS added_by,
        row_number() OVER (ORDER BY added_us ASC, id ASC, size ASC) AS position
    FROM callhouse.annotation_queue_items AS i
    FINAL
    WHERE (i.project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id NOT IN (
        SELECT id
        FROM callhouse.calls_deleted
        WHERE (project_id = {v0:String}) AND (id IN (
            SELECT call_id
            FROM callhouse.annotation_queue_items
            WHERE (project_id = {v0:String}) AND (queue_id = {v1:String})
        ))
    )))
) AS q
LEFT JOIN
(
    SELECT
        call_id,
        argMax(toString(state), clock) AS shown,
        argMax(annotator, clock) AS annotator
    FROM callhouse.annotation_queue_progress
    FINAL
    WHERE (project_id = {v0:String}) AND (queue_id = {v1:String})
    GROUP BY call_id
) AS p ON p.call_id = q.call_id
WHERE state IN ({v2:Array(String)})
ORDER BY
    added_us ASC,
    id ASC,
    size ASC
LIMIT {v4:UInt64}, {v3:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- items by their keys (annotation-queues.items-of-calls)
-- {"v0":"ent/proj","v1":"q","v2":["a","b"]}
SELECT
    id,
    q.call_id,
    started_us,
    ended_us,
    op_name,
    trace_id,
    display_fields,
    added_us,
    added_by,
    if(shown = '', 'unstarted', shown) AS state,
    p.annotator,
    position
FROM
(
    SELECT
        i.id AS id,
        i.call_id AS call_id,
        toUnixTimestamp64Micro(i.call_started_at) AS started_us,
        toUnixTimestamp64Micro(i.call_ended_at) AS ended_us,
        i.call_op_name AS op_name,
        i.call_trace_id AS trace_id,
        i.display_fields AS display_fields,
        intDiv(i.clock, 1024) AS added_us,
        i.added_by AS added_by,
        0 AS position
    FROM callhouse.annotation_queue_items AS i
    FINAL
    WHERE (i.project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id IN ({v2:Array(String)})))
) AS q
LEFT JOIN
(
    SELECT
        call_id,
        argMax(toString(state), clock) AS shown,
        argMax(annotator, clock) AS annotator
    FROM callhouse.annotation_queue_progress
    FINAL
    WHERE (project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id IN ({v2:Array(String)})))
    GROUP BY call_id
) AS p ON p.call_id = q.call_id
SETTINGS output_format_json_quote_64bit_integers = 0

-- whether there is a queue (annotation-queues.live)
-- {"v0":"ent/proj","v1":"q"}
SELECT (countIf(part = 'created') > 0) AND (countIf(part = 'deleted') = 0)
FROM callhouse.annotation_queues
WHERE (project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (part IN ('created', 'deleted')))

-- one item (annotation-queues.item)
-- {"v0":"ent/proj","v1":"q","v2":"i"}
SELECT
    id,
    call_id,
    started_us,
    ended_us,
    op_name,
    trace_id,
    display_fields,
    added_us,
    added_by,
    'unstarted',
    '',
    0
FROM
(
    SELECT
        i.id AS id,
        i.call_id AS call_id,
        toUnixTimestamp64Micro(i.call_started_at) AS started_us,
        toUnixTimestamp64Micro(i.call_ended_at) AS ended_us,
        i.call_op_name AS op_name,
        i.call_trace_id AS trace_id,
        i.display_fields AS display_fields,
        intDiv(i.clock, 1024) AS added_us,
        i.added_by AS added_by
    FROM callhouse.annotation_queue_items AS i
    FINAL
    WHERE (i.project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (id = {v2:String}) AND (call_id NOT IN (
        SELECT id
        FROM callhouse.calls_deleted
        WHERE (project_id = {v0:String}) AND (id IN (
            SELECT call_id
            FROM callhouse.annotation_queue_items
            WHERE (project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (id = {v2:String}))
        ))
    )))
    LIMIT 1
)
SETTINGS output_format_json_quote_64bit_integers = 0

-- progress on an item (annotation-queues.progress)
-- {"v0":"ent/proj","v1":"q","v2":"c"}
SELECT
    annotator,
    toString(state),
    toString(clock)
FROM callhouse.annotation_queue_progress
FINAL
WHERE (project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id = {v2:String}))

-- calls to be added (annotation-queues.calls)
-- {"v0":"ent/proj","v1":"id","v2":["a","b"]}
SELECT
    c.id,
    toUnixTimestamp64Micro(c.started_at),
    toUnixTimestamp64Micro(c.ended_at),
    c.op_name,
    c.trace_id
FROM callhouse.calls AS c
FINAL
WHERE (c.project_id = {v0:String}) AND ((c.started_at IN (
    SELECT started_at
    FROM callhouse.call_keys
    WHERE (project_id = {v0:String}) AND ((kind = {v1:String}) AND (key IN ({v2:Array(String)})))
)) AND (c.delete_ver = 0) AND (c.moved = 0) AND (c.id IN ({v2:Array(String)})))
ORDER BY c.version DESC
LIMIT 1 BY c.id
SETTINGS output_format_json_quote_64bit_integers = 0

-- calls that are there (annotation-queues.queued)
-- {"v0":"ent/proj","v1":"q","v2":["a","b"]}
SELECT DISTINCT call_id
FROM callhouse.annotation_queue_items
WHERE (project_id = {v0:String}) AND ((queue_id = {v1:String}) AND (call_id IN ({v2:Array(String)})) AND (call_id NOT IN (
    SELECT id
    FROM callhouse.calls_deleted
    WHERE (project_id = {v0:String}) AND (id IN ({v2:Array(String)}))
)))

-- counts of queues (annotation-queues.counts)
-- {"v0":"ent/proj","v1":["q","r"]}
SELECT
    queue_id,
    toUInt32(count()),
    toUInt32(sum(done))
FROM
(
    SELECT
        queue_id,
        call_id,
        max(is_done) AS done
    FROM
    (
        SELECT
            queue_id,
            call_id,
            0 AS is_done
        FROM callhouse.annotation_queue_items
        WHERE (project_id = {v0:String}) AND ((queue_id IN ({v1:Array(String)})) AND (call_id NOT IN (
            SELECT id
            FROM callhouse.calls_deleted
            WHERE (project_id = {v0:String}) AND (id IN (
                SELECT call_id
                FROM callhouse.annotation_queue_items
                WHERE (project_id = {v0:String}) AND (queue_id IN ({v1:Array(String)}))
            ))
        )))
        UNION ALL
        SELECT
            queue_id,
            call_id,
            1 AS is_done
        FROM callhouse.annotation_queue_progress
        WHERE (project_id = {v0:String}) AND ((queue_id IN ({v1:Array(String)})) AND (state != 'in_progress'))
    )
    GROUP BY
        queue_id,
        call_id
    HAVING min(is_done) = 0
)
GROUP BY queue_id
