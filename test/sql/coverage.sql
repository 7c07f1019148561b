-- what a rollup covers (calls.covered)
-- {"v0":["call_counts","call_counts/0"]}
SELECT
    partition,
    toString(max(position))
FROM callhouse.rollups
WHERE name IN ({v0:Array(String)})
GROUP BY partition

-- what the field index covers (calls.field-index-covered)
-- {"v0":["payload_leaves","payload_leaves/0"]}
SELECT
    partition,
    toString(max(position))
FROM callhouse.rollups
WHERE name IN ({v0:Array(String)})
GROUP BY partition
