-- every row (feedback.page)
SELECT f.id, f.project_id, f.weave_ref, f.user_id, f.creator, toUnixTimestamp64Micro(f.created_at), f.feedback_type, f.payload, f.annotation_ref, f.runnable_ref, f.call_ref, f.trigger_ref, f.queue_id, f.scorer_tags, f.scorer_tag_reasons, f.scorer_rating_reasons, f.scorer_tag_confidences, f.scorer_ratings, f.scorer_rating_confidences, f.span_agent_name, f.span_agent_version, f.span_conversation_id, f.span_trace_id, f.scorer_trace_id, f.span_status_code FROM callhouse.feedback AS f FINAL WHERE f.project_id = {v0:String} AND (f.purged = 0)
    ORDER BY f.created_at, f.id LIMIT {v1:UInt64} OFFSET {v2:UInt64} SETTINGS output_format_json_quote_64bit_integers = 0, max_result_bytes = 33554432
-- {"v0":"ent/proj","v1":9007199254740991,"v2":0}

-- reactions to a call, sorted by a part of the payload (feedback.page)
SELECT f.id, if(JSONType(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}) = 'Array', JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v1:Int64}), JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v2:String})), if(mapContains(f.scorer_ratings, {v3:String}), f.scorer_ratings[{v3:String}], NULL), toUnixTimestamp64Micro(f.created_at) FROM callhouse.feedback AS f FINAL WHERE f.project_id = {v4:String} AND (f.id IN (SELECT id FROM callhouse.feedback_by_ref WHERE project_id = {v4:String} AND (weave_ref IN ({v5:Array(String)}))) AND f.weave_ref IN ({v5:Array(String)}) AND f.purged = 0 AND ((f.weave_ref = {v6:String}) AND (JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v7:String}) = {v8:String})))
    ORDER BY JSONType(if(f.readable_payload = '', f.payload, f.readable_payload), {v9:String}) != 'Null' DESC, ifNotFinite(toFloat64OrNull(JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v9:String})), NULL) DESC NULLS LAST, JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v9:String}) DESC, f.created_at, f.id LIMIT {v10:UInt64} OFFSET {v11:UInt64} SETTINGS output_format_json_quote_64bit_integers = 0, max_result_bytes = 33554432
-- {"v0":"list","v1":1,"v2":"0","v3":"a","v4":"ent/proj","v5":["weave:///e/p/call/1"],"v6":"weave:///e/p/call/1","v7":"emoji","v8":"👍","v9":"n","v10":10,"v11":5}

-- keys of rows (feedback.keys)
SELECT f.id, byteSize(f.payload, f.scorer_tags, f.scorer_tag_reasons, f.scorer_rating_reasons) AS size FROM callhouse.feedback AS f FINAL WHERE f.project_id = {v0:String} AND (f.purged = 0 AND (f.creator = {v1:String}))
    ORDER BY f.created_at, f.id, size LIMIT {v2:UInt64} OFFSET {v3:UInt64} SETTINGS output_format_json_quote_64bit_integers = 0
-- {"v0":"ent/proj","v1":"Ann","v2":100,"v3":200}

-- rows by their keys (feedback.items)
SELECT f.id, if(JSONType(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}) = 'Array', JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v1:Int64}), JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v2:String})), if(mapContains(f.scorer_ratings, {v3:String}), f.scorer_ratings[{v3:String}], NULL), toUnixTimestamp64Micro(f.created_at), f.id FROM callhouse.feedback AS f FINAL WHERE f.project_id = {v4:String} AND (f.id IN ({v5:Array(String)}) AND f.purged = 0)
    SETTINGS output_format_json_quote_64bit_integers = 0
-- {"v0":"list","v1":1,"v2":"0","v3":"a","v4":"ent/proj","v5":["a","b"]}

-- number of rows (feedback.count)
SELECT toUInt32(count()) AS count FROM callhouse.feedback AS f FINAL WHERE f.project_id = {v0:String} AND (f.purged = 0 AND ((if(mapContains(f.scorer_ratings, {v1:String}), f.scorer_ratings[{v1:String}], NULL) = {v2:Float64}) OR NOT ((f.creator = {v3:String}))))
-- {"v0":"ent/proj","v1":"a","v2":0.5,"v3":"Ann"}

-- ids that are there (feedback.present)
SELECT id FROM callhouse.feedback AS f FINAL WHERE f.project_id = {v0:String} AND (f.id IN ({v1:Array(String)}) AND f.purged = 0) ORDER BY id
-- {"v0":"ent/proj","v1":["a","b"]}

-- feedback of calls (feedback.of-calls)
SELECT f.weave_ref, f.id, if(JSONType(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}) = 'Array', JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v1:Int64}), JSONExtractString(if(f.readable_payload = '', f.payload, f.readable_payload), {v0:String}, {v2:String})), if(mapContains(f.scorer_ratings, {v3:String}), f.scorer_ratings[{v3:String}], NULL), toUnixTimestamp64Micro(f.created_at) FROM callhouse.feedback AS f FINAL WHERE f.project_id = {v4:String} AND (f.id IN (SELECT id FROM callhouse.feedback_by_ref WHERE project_id = {v4:String} AND (weave_ref IN ({v5:Array(String)}))) AND f.weave_ref IN ({v5:Array(String)}) AND f.purged = 0)
    ORDER BY f.created_at, f.id SETTINGS output_format_json_quote_64bit_integers = 0, max_result_bytes = 33554432
-- {"v0":"list","v1":1,"v2":"0","v3":"a","v4":"ent/proj","v5":["weave:///e/p/call/1","weave:///e/p/call/2"]}
