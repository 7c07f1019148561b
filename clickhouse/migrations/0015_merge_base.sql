-- Small parts come several times a second: wider merges write each row less often (docs/performance.md).
ALTER TABLE callhouse.calls MODIFY SETTING merge_selector_base = 16;

ALTER TABLE callhouse.call_patches MODIFY SETTING merge_selector_base = 16;

ALTER TABLE callhouse.calls_by_id MODIFY SETTING merge_selector_base = 16;

ALTER TABLE callhouse.calls_by_trace MODIFY SETTING merge_selector_base = 16;

ALTER TABLE callhouse.calls_by_parent MODIFY SETTING merge_selector_base = 16;

ALTER TABLE callhouse.turns MODIFY SETTING merge_selector_base = 16;

ALTER TABLE callhouse.payloads MODIFY SETTING vertical_merge_algorithm_min_columns_to_activate = 4, vertical_merge_algorithm_min_rows_to_activate = 20000;
