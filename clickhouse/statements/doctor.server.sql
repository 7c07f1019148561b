-- Version, clock and time zone of the engine.
SELECT version() AS version, toString(toUnixTimestamp64Milli(now64(3))) AS now, timezone() AS zone
