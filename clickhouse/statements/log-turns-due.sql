-- A page of the records that may lie below another prompt than before, in the order of project, session, time and id, with
-- the last prompt at or before each, how many there are, and where its call lies now ('' = it is not there).
WITH
lately AS
(
    SELECT project_id, session, min(at) AS since FROM callhouse.log_turns_due
    WHERE arrived >= now() - {seconds:UInt32} AND (project_id, session) >= ({project:String}, toUInt128({session:String}))
        AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
    GROUP BY project_id, session
),
page AS
(
    SELECT record.project_id AS project_id, record.session AS session, record.at AS at, record.id AS id
    FROM callhouse.log_turns AS record
    INNER JOIN lately ON lately.project_id = record.project_id AND lately.session = record.session
    WHERE record.is_prompt = 0 AND (record.project_id, record.session) IN (SELECT project_id, session FROM lately)
        AND record.at >= lately.since
        AND (record.project_id, record.session, toUnixTimestamp64Nano(record.at), record.id)
            > ({project:String}, toUInt128({session:String}), {after_ns:Int64}, {after:String})
    ORDER BY project_id, session, at, id
    LIMIT 1 BY project_id, session, at, id
    LIMIT {limit:UInt32}
),
prompts AS
(
    SELECT project_id, session, at, max(id) AS prompt,
        sum(uniqExact(id)) OVER (PARTITION BY project_id, session ORDER BY at) AS before
    FROM callhouse.log_turns
    WHERE is_prompt = 1 AND (project_id, session) IN (SELECT project_id, session FROM page)
    GROUP BY project_id, session, at
),
stored AS
(
    SELECT project_id, id, trace_id, parent_id, start_ver, toUInt32(least(start_bytes + end_bytes, 4000000000)) AS bytes
    FROM callhouse.calls FINAL
    WHERE (project_id, started_at, id) IN
        (
            SELECT project_id, started_at, key FROM callhouse.call_keys
            WHERE kind = 'id' AND (project_id, key) IN (SELECT project_id, id FROM page)
        )
        AND moved = 0 AND delete_ver = 0 AND end_ver = start_ver
)
SELECT
    page.project_id AS project_id, toString(page.session) AS session, toString(toUnixTimestamp64Nano(page.at)) AS at_ns,
    page.id AS id, prompts.prompt AS prompt, toString(prompts.before) AS before, stored.parent_id AS parent,
    stored.trace_id AS trace_id, toString(stored.start_ver) AS clock, stored.bytes AS bytes
FROM page
ASOF LEFT JOIN prompts
    ON prompts.project_id = page.project_id AND prompts.session = page.session AND prompts.at <= page.at
LEFT JOIN stored ON stored.project_id = page.project_id AND stored.id = page.id
ORDER BY page.project_id, page.session, page.at, page.id
