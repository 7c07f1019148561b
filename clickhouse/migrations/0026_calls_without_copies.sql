-- A day after call_keys.sql: as processes of the version before read the copies; at once where no others can.
DROP VIEW IF EXISTS callhouse.calls_to_by_id;

DROP VIEW IF EXISTS callhouse.calls_to_by_trace;

DROP VIEW IF EXISTS callhouse.calls_to_by_parent;

DROP TABLE IF EXISTS callhouse.calls_by_id SETTINGS max_table_size_to_drop = 0;

DROP TABLE IF EXISTS callhouse.calls_by_trace SETTINGS max_table_size_to_drop = 0;

DROP TABLE IF EXISTS callhouse.calls_by_parent SETTINGS max_table_size_to_drop = 0;
