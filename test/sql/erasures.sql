-- erasures of a project (erasures.list)
-- {"v0":"ent/proj","v1":"e1","v2":10}
SELECT
    project_id,
    id,
    clock,
    status,
    requested_by,
    requested_us,
    deadline_us,
    done_us,
    until_ver,
    reason,
    problem,
    calls,
    missing,
    payload_rows,
    feedback,
    log_rows,
    dead_letters,
    remaining,
    previous,
    hash,
    hidden_us,
    selector_hmac,
    first_ver,
    files,
    bytes,
    held,
    log_records,
    places
FROM callhouse.erasures
FINAL
WHERE (project_id = {v0:String}) AND (id < {v1:String})
ORDER BY id DESC
LIMIT {v2:UInt64}

-- an erasure (erasures.read)
-- {"v0":"ent/proj","v1":"e1"}
SELECT
    project_id,
    id,
    clock,
    status,
    requested_by,
    requested_us,
    deadline_us,
    done_us,
    until_ver,
    reason,
    problem,
    calls,
    missing,
    payload_rows,
    feedback,
    log_rows,
    dead_letters,
    remaining,
    previous,
    hash,
    hidden_us,
    selector_hmac,
    first_ver,
    files,
    bytes,
    held,
    log_records,
    places
FROM callhouse.erasures
FINAL
WHERE (project_id = {v0:String}) AND (id = {v1:String})
