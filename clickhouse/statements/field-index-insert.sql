-- Inserts the field values of some groups of payload rows.
INSERT INTO callhouse.payload_leaves (project_id, path, kind, part, least, most, chunk, at, num, str)
SELECT project_id, path, kind, part, least, most, chunk, at, num, str
FROM format(JSONEachRow, 'project_id String, path String, kind String, part String, least Int64, most Int64,
    chunk UInt64, at Array(Int64), num Array(Float64), str Array(String)', {rows:String})
