-- Erasures that were done before a time.
SELECT project_id, id
FROM callhouse.erasures FINAL
WHERE status = 'done' AND done_us < {before:Int64}
LIMIT {limit:UInt32}
