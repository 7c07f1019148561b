-- Notes sessions of coding agents as due whose calls a batch has, as their records say them: without a prompt.
INSERT INTO callhouse.log_turns_due
SELECT project_id, session, min(at), now()
FROM callhouse.log_turns
WHERE is_prompt = 0 AND (project_id, session, id) IN
    (
        SELECT project_id, reinterpretAsUInt128(sipHash128(thread_id)), id FROM callhouse.calls_batch
        WHERE kind = 'complete' AND thread_id != '' AND parent_id = ''
            AND ({any:UInt8} = 1 OR project_id IN {projects:Array(String)})
    )
GROUP BY project_id, session
