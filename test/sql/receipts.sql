-- erasures of all projects (erasures.of-all)
-- {"project":"","id":""}
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
WHERE (({project:String} = '') OR (project_id = {project:String})) AND (({id:String} = '') OR (id = {id:String}))
ORDER BY id DESC
LIMIT 1000

-- one erasure (erasures.of-all)
-- {"project":"ent/proj","id":"e1"}
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
WHERE (({project:String} = '') OR (project_id = {project:String})) AND (({id:String} = '') OR (id = {id:String}))
ORDER BY id DESC
LIMIT 1000
