-- The calls that the segment being applied touches and that must be folded; emptied before each segment.
CREATE TABLE IF NOT EXISTS callhouse.calls_touched
(
    project_id String,
    id String
) ENGINE = Memory;
