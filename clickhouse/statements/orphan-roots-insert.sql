-- Stores which calls stand for a root that never came: rows of the columns of orphan_roots.
INSERT INTO callhouse.orphan_roots
FORMAT JSONCompactEachRow
${rows}
