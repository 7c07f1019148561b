-- What a server does beside serving us: logs of its own in tables, and how much memory it may use.
SELECT
    (SELECT groupArray(name) FROM system.tables WHERE database = 'system' AND engine LIKE '%MergeTree') AS logs,
    (SELECT any(value) FROM system.server_settings WHERE name = 'max_server_memory_usage') AS cap,
    (SELECT any(value) FROM system.server_settings WHERE name = 'max_server_memory_usage_to_ram_ratio') AS ratio
