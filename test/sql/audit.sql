-- events of everything (audit.events)
-- {"v0":100}
SELECT
    scope,
    toString(toUnixTimestamp64Micro(at)) AS at_us,
    chain,
    toString(seq) AS seq,
    actor,
    toString(actor_kind) AS actor_kind,
    key_id,
    address,
    toString(action) AS action,
    target,
    toString(outcome) AS outcome,
    request_id,
    details,
    toString(ends_from) AS ends_from,
    toString(ends_to) AS ends_to,
    prev,
    hash
FROM callhouse.audit_events
FINAL
WHERE audit_events.ends_to = 0
ORDER BY
    audit_events.at DESC,
    chain DESC,
    audit_events.seq DESC
LIMIT {v0:UInt64}

-- events by all conditions (audit.events)
-- {"v0":"ent","v1":"ent/","v2":1767225600000000,"v3":1769904000000000,"v4":"ann","v5":"key.","v6":"k1","v7":1700000000000000,"v8":"c1","v9":5,"v10":10}
SELECT
    scope,
    toString(toUnixTimestamp64Micro(at)) AS at_us,
    chain,
    toString(seq) AS seq,
    actor,
    toString(actor_kind) AS actor_kind,
    key_id,
    address,
    toString(action) AS action,
    target,
    toString(outcome) AS outcome,
    request_id,
    details,
    toString(ends_from) AS ends_from,
    toString(ends_to) AS ends_to,
    prev,
    hash
FROM callhouse.audit_events
FINAL
WHERE (audit_events.ends_to = 0) AND ((scope = {v0:String}) OR startsWith(scope, {v1:String})) AND (audit_events.at >= fromUnixTimestamp64Micro({v2:Int64}, 'UTC')) AND (audit_events.at < fromUnixTimestamp64Micro({v3:Int64}, 'UTC')) AND (actor = {v4:String}) AND startsWith(audit_events.action, {v5:String}) AND (target = {v6:String}) AND ((audit_events.at, chain, audit_events.seq) < (fromUnixTimestamp64Micro({v7:Int64}, 'UTC'), {v8:String}, {v9:UInt64}))
ORDER BY
    audit_events.at DESC,
    chain DESC,
    audit_events.seq DESC
LIMIT {v10:UInt64}

-- ends of events (audit.ends)
-- {"v0":1,"v1":9,"v2":["c1"]}
SELECT
    chain,
    toString(ends_from) AS ends_from,
    toString(ends_to) AS ends_to,
    toString(outcome) AS outcome
FROM callhouse.audit_events
WHERE (audit_events.ends_to >= {v0:UInt64}) AND (audit_events.ends_from <= {v1:UInt64}) AND (audit_events.ends_to > 0) AND (chain IN ({v2:Array(String)}))

-- events that name heads (audit.naming)
-- {"v0":["audit.began","audit.checkpoint","audit.dropped"]}
SELECT
    scope,
    toString(toUnixTimestamp64Micro(at)) AS at_us,
    chain,
    toString(seq) AS seq,
    actor,
    toString(actor_kind) AS actor_kind,
    key_id,
    address,
    toString(action) AS action,
    target,
    toString(outcome) AS outcome,
    request_id,
    details,
    toString(ends_from) AS ends_from,
    toString(ends_to) AS ends_to,
    prev,
    hash
FROM callhouse.audit_events
WHERE audit_events.action IN ({v0:Array(String)})
ORDER BY audit_events.at ASC

-- chains (audit.chains)
-- {}
SELECT
    chain,
    toString(min(seq)) AS first,
    toString(max(seq)) AS last
FROM callhouse.audit_events
GROUP BY chain
ORDER BY
    min(at) ASC,
    chain ASC

-- a piece of chains (audit.piece)
-- {"v0":["c1","c2"],"v1":0,"v2":100}
SELECT
    scope,
    toString(toUnixTimestamp64Micro(at)) AS at_us,
    chain,
    toString(seq) AS seq,
    actor,
    toString(actor_kind) AS actor_kind,
    key_id,
    address,
    toString(action) AS action,
    target,
    toString(outcome) AS outcome,
    request_id,
    details,
    toString(ends_from) AS ends_from,
    toString(ends_to) AS ends_to,
    prev,
    hash
FROM callhouse.audit_events
WHERE (chain IN ({v0:Array(String)})) AND (audit_events.seq >= {v1:UInt64}) AND (audit_events.seq < {v2:UInt64})
ORDER BY
    chain ASC,
    audit_events.seq ASC,
    hash ASC,
    audit_events.at ASC

-- the next event of a chain (audit.next)
-- {"v0":"c1","v1":100}
SELECT toString(min(seq)) AS next
FROM callhouse.audit_events
WHERE (chain = {v0:String}) AND (audit_events.seq >= {v1:UInt64})

-- heads of chains (audit.heads)
-- {"v0":10}
SELECT
    chain,
    toString(max(seq)) AS last,
    argMax(hash, seq) AS hash,
    toString(toUnixTimestamp64Micro(argMax(at, seq))) AS at_us
FROM callhouse.audit_events
GROUP BY chain
ORDER BY
    max(at) DESC,
    chain ASC
LIMIT {v0:UInt64}
