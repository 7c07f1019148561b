-- Of a minute with many calls only the seconds that changed are counted again (docs/adr/0003, "Seconds").

-- Bit n: calls that begin in second n of the minute changed; 0 = whatever the minute holds. No part of the key: a bucket
-- that is written again, at the same position, has 0.
ALTER TABLE callhouse.call_marks ADD COLUMN IF NOT EXISTS seconds UInt64;

-- The counts of the seconds of a minute with many calls: 60, or none.
ALTER TABLE callhouse.call_counts
    ADD COLUMN IF NOT EXISTS calls_by_second Array(UInt32) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS roots_by_second Array(UInt32) CODEC(ZSTD(1));
