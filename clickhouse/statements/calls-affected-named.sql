-- Affected calls: those that are named.
INSERT INTO callhouse.calls_touched
SELECT pair.1, pair.2 FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {ids:Array(String)})) AS pair)
