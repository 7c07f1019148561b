-- everything, default order
order: c.started_at ASC, c.id ASC

-- no order

-- filter on every field
light: (c.id IN ({v0:Array(String)}))
light: (c.trace_id IN ({v0:Array(String)}))
light: (c.parent_id IN ({v0:Array(String)}))
light: (c.thread_id IN ({v0:Array(String)}))
light: (c.turn_id IN ({v0:Array(String)}))
light: (c.parent_id = '')
light: ((c.op_name IN ({v0:Array(String)})) OR startsWith(c.op_name, {v1:String}))
light: (hasAny(c.input_refs, {v0:Array(String)}) OR arrayExists(ref -> startsWith(ref, {v1:String}), c.input_refs))
light: (hasAny(c.output_refs, {v0:Array(String)}))
light: (c.user_id IN ({v0:Array(String)}))
light: (c.run_id IN ({v0:Array(String)}))
order: c.started_at ASC, c.id ASC

-- payload fields
payload: (toInt64OrNull(JSONExtractString(p.inputs, {v0:String}, {v1:String})) = {v2:Int64})
payload: (ifNotFinite(toFloat64OrNull(JSONExtractString(p.output, {v0:String})), NULL) > {v1:Int64})
payload: (if(JSONType(p.inputs, {v0:String}) = 'Array', JSONExtractString(p.inputs, {v0:String}, {v1:Int64}, {v2:String}), JSONExtractString(p.inputs, {v0:String}, {v3:String}, {v2:String})) = {v4:String})
payload: (toUInt8OrNull(transform(ifNull(arrayMap(json_0 -> if(JSONType(json_0) = 'Array', JSONExtractString(json_0, {v0:Int64}, {v1:String}), JSONExtractString(json_0, {v2:String}, {v1:String})), [if(JSONType(p.output) = 'Array', JSONExtractRaw(p.output, {v3:Int64}), JSONExtractRaw(p.output, {v4:String}))])[1], ''), ['true', 'false'], ['1', '0'])) = true)
payload: NOT ((multiSearchAnyCaseInsensitiveUTF8(p.inputs, [{v0:String}, '\\u', '\\/']) AND (positionCaseInsensitiveUTF8(JSONExtractString(p.inputs), {v0:String}) > 0)))
payload: (if(startsWith(if(p.otel_dump != '', JSONExtractString(p.otel_dump, {v0:String}), JSONExtractString(p.attributes, {v1:String}, {v0:String})), {v2:String}), JSONExtractString(if(p.otel_dump != '', JSONExtractString(p.otel_dump, {v0:String}), JSONExtractString(p.attributes, {v1:String}, {v0:String})), {v3:String}), if(p.otel_dump != '', JSONExtractString(p.otel_dump, {v0:String}), JSONExtractString(p.attributes, {v1:String}, {v0:String}))) = {v4:String})
payload: (JSONType(p.inputs, {v0:String}) != 'Null')
order: c.started_at ASC, c.id ASC

-- columns
light: (c.started_at >= fromUnixTimestamp64Micro({v0:Int64}, 'UTC'))
light: (if(c.end_ver = 0, NULL, c.ended_at) < fromUnixTimestamp64Micro({v0:Int64}, 'UTC'))
light: (c.parent_id = '')
light: (multiIf(c.exception != '', 'error', c.end_ver = 0, 'running', c.error_count > 0, 'descendant_error', 'success') = {v0:String})
light: (if(c.end_ver = 0, NULL, intDiv(greatest(0, toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at)), 1000)) > {v0:Int64})
light: (multiIf(c.display_name != '', c.display_name, extract(c.op_name, '^weave:///[^/]+/[^/]+/op/([^/:]+):') != '', extract(c.op_name, '^weave:///[^/]+/[^/]+/op/([^/:]+):'), c.op_name) = {v0:String})
light: (nullIf(c.run_step, -1) = {v0:Int64})
light: ((c.id IN ({v0:Array(String)})) OR (c.op_name = {v1:String}))
payload: (toFloat64(ifNotFinite(toFloat64OrNull(JSONExtractString(p.inputs, {v0:String})), NULL)) IN ({v1:Array(Float64)}))
order: c.started_at ASC, c.id ASC

-- sorting
order: if(c.end_ver = 0, NULL, intDiv(greatest(0, toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at)), 1000)) DESC NULLS LAST, JSONType(p.output, {v0:String}) != 'Null' DESC, ifNotFinite(toFloat64OrNull(JSONExtractString(p.output, {v0:String})), NULL) ASC NULLS LAST, JSONExtractString(p.output, {v0:String}) ASC, c.started_at DESC, c.id DESC
