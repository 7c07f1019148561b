-- The same for calls of which fragments came alone: one share of several, so that no answer becomes large.
SELECT murmurHash3_32(call), murmurHash2_32(call)
FROM (SELECT concat(project_id, '","id":"', id) AS call FROM callhouse.call_patches)
WHERE murmurHash3_32(call) % {shares:UInt32} = {share:UInt32}
SETTINGS max_threads = 1
