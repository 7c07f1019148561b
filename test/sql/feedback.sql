-- every row (feedback.page)
-- {"v0":"ent/proj","v1":"weave:///ent/proj/call/","v2":24,"v3":9007199254740991,"v4":0}
SELECT
    f.id,
    f.project_id,
    f.weave_ref,
    f.user_id,
    f.creator,
    toUnixTimestamp64Micro(f.created_at),
    f.feedback_type,
    f.payload,
    f.annotation_ref,
    f.runnable_ref,
    f.call_ref,
    f.trigger_ref,
    f.queue_id,
    f.scorer_tags,
    f.scorer_tag_reasons,
    f.scorer_rating_reasons,
    f.scorer_tag_confidences,
    f.scorer_ratings,
    f.scorer_rating_confidences,
    f.span_agent_name,
    f.span_agent_version,
    f.span_conversation_id,
    f.span_trace_id,
    f.scorer_trace_id,
    f.span_status_code
FROM callhouse.feedback AS f
FINAL
WHERE (f.project_id = {v0:String}) AND ((f.purged = 0) AND (if(startsWith(f.weave_ref, {v1:String}), substringIndex(substring(f.weave_ref, {v2:UInt32}), '/', 1), '') NOT IN (
    SELECT id
    FROM callhouse.calls_deleted
    WHERE (project_id = {v0:String}) AND (id IN (
        SELECT if(startsWith(weave_ref, {v1:String}), substringIndex(substring(weave_ref, {v2:UInt32}), '/', 1), '')
        FROM callhouse.feedback_by_ref
        WHERE project_id = {v0:String}
    ))
)))
ORDER BY
    f.created_at ASC,
    f.id ASC
LIMIT {v4:UInt64}, {v3:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0, max_result_bytes = 33554432

-- reactions to a call, sorted by a part of the payload (feedback.page)
-- {"v4":"ent/proj","v0":"list","v1":1,"v2":"0","v3":"a","v5":["weave:///e/p/call/1"],"v6":"weave:///ent/proj/call/","v7":24,"v8":[],"v9":"weave:///e/p/call/1","v10":"emoji","v11":"👍","v12":"n","v13":10,"v14":5}
SELECT
    f.id,
    if(JSONType(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}) = 'Array', JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v1:Int64}), JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v2:String})),
    if(mapContains(f.scorer_ratings, {v3:String}), f.scorer_ratings[{v3:String}], NULL),
    toUnixTimestamp64Micro(f.created_at)
FROM callhouse.feedback AS f
FINAL
WHERE (f.project_id = {v4:String}) AND ((f.id IN (
    SELECT id
    FROM callhouse.feedback_by_ref
    WHERE (project_id = {v4:String}) AND (weave_ref IN ({v5:Array(String)}))
)) AND (f.weave_ref IN ({v5:Array(String)})) AND (f.purged = 0) AND (if(startsWith(f.weave_ref, {v6:String}), substringIndex(substring(f.weave_ref, {v7:UInt32}), '/', 1), '') NOT IN (
    SELECT id
    FROM callhouse.calls_deleted
    WHERE (project_id = {v4:String}) AND (id IN ({v8:Array(String)}))
)) AND ((f.weave_ref = {v9:String}) AND (JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v10:String}) = {v11:String})))
ORDER BY
    JSONType(if(f.readable_payload = '', f.payload, f.readable_payload), {v12:String}) != 'Null' DESC,
    ifNotFinite(toFloat64OrNull(JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v12:String})), NULL) DESC NULLS LAST,
    JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v12:String}) DESC,
    f.created_at ASC,
    f.id ASC
LIMIT {v14:UInt64}, {v13:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0, max_result_bytes = 33554432

-- keys of rows (feedback.keys)
-- {"v0":"ent/proj","v1":"weave:///ent/proj/call/","v2":24,"v3":"Ann","v4":100,"v5":200}
SELECT
    f.id,
    byteSize(f.payload, f.scorer_tags, f.scorer_tag_reasons, f.scorer_rating_reasons) AS size
FROM callhouse.feedback AS f
FINAL
WHERE (f.project_id = {v0:String}) AND ((f.purged = 0) AND (if(startsWith(f.weave_ref, {v1:String}), substringIndex(substring(f.weave_ref, {v2:UInt32}), '/', 1), '') NOT IN (
    SELECT id
    FROM callhouse.calls_deleted
    WHERE (project_id = {v0:String}) AND (id IN (
        SELECT if(startsWith(weave_ref, {v1:String}), substringIndex(substring(weave_ref, {v2:UInt32}), '/', 1), '')
        FROM callhouse.feedback_by_ref
        WHERE project_id = {v0:String}
    ))
)) AND (f.creator = {v3:String}))
ORDER BY
    f.created_at ASC,
    f.id ASC,
    size ASC
LIMIT {v5:UInt64}, {v4:UInt64}
SETTINGS output_format_json_quote_64bit_integers = 0

-- rows by their keys (feedback.items)
-- {"v4":"ent/proj","v0":"list","v1":1,"v2":"0","v3":"a","v5":["a","b"]}
SELECT
    f.id,
    if(JSONType(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}) = 'Array', JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v1:Int64}), JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v2:String})),
    if(mapContains(f.scorer_ratings, {v3:String}), f.scorer_ratings[{v3:String}], NULL),
    toUnixTimestamp64Micro(f.created_at),
    f.id
FROM callhouse.feedback AS f
FINAL
WHERE (f.project_id = {v4:String}) AND ((f.id IN ({v5:Array(String)})) AND (f.purged = 0))
SETTINGS output_format_json_quote_64bit_integers = 0

-- number of rows (feedback.count)
-- {"v0":"ent/proj","v1":"weave:///ent/proj/call/","v2":24,"v3":"a","v4":0.5,"v5":"Ann"}
SELECT toUInt32(count()) AS count
FROM callhouse.feedback AS f
FINAL
WHERE (f.project_id = {v0:String}) AND ((f.purged = 0) AND (if(startsWith(f.weave_ref, {v1:String}), substringIndex(substring(f.weave_ref, {v2:UInt32}), '/', 1), '') NOT IN (
    SELECT id
    FROM callhouse.calls_deleted
    WHERE (project_id = {v0:String}) AND (id IN (
        SELECT if(startsWith(weave_ref, {v1:String}), substringIndex(substring(weave_ref, {v2:UInt32}), '/', 1), '')
        FROM callhouse.feedback_by_ref
        WHERE project_id = {v0:String}
    ))
)) AND ((if(mapContains(f.scorer_ratings, {v3:String}), f.scorer_ratings[{v3:String}], NULL) = {v4:Float64}) OR (NOT (f.creator = {v5:String}))))

-- ids that are there (feedback.present)
-- {"v0":"ent/proj","v1":["a","b"]}
SELECT
    id,
    toString(f.clock) AS clock,
    user_id,
    weave_ref
FROM callhouse.feedback AS f
FINAL
WHERE (f.project_id = {v0:String}) AND ((f.id IN ({v1:Array(String)})) AND (f.purged = 0))
ORDER BY id ASC

-- feedback of calls (feedback.of-calls)
-- {"v4":"ent/proj","v0":"list","v1":1,"v2":"0","v3":"a","v5":["weave:///e/p/call/1","weave:///e/p/call/2"]}
SELECT
    f.weave_ref,
    f.id,
    if(JSONType(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}) = 'Array', JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v1:Int64}), JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v2:String})),
    if(mapContains(f.scorer_ratings, {v3:String}), f.scorer_ratings[{v3:String}], NULL),
    toUnixTimestamp64Micro(f.created_at)
FROM callhouse.feedback AS f
FINAL
WHERE (f.project_id = {v4:String}) AND ((f.id IN (
    SELECT id
    FROM callhouse.feedback_by_ref
    WHERE (project_id = {v4:String}) AND (weave_ref IN ({v5:Array(String)}))
)) AND (f.weave_ref IN ({v5:Array(String)})) AND (f.purged = 0))
ORDER BY
    f.created_at ASC,
    f.id ASC
SETTINGS output_format_json_quote_64bit_integers = 0, max_result_bytes = 33554432
