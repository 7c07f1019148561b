-- How many rows in the files of a partition are removed ones.
SELECT toString(countIf(_row_exists = 0)) AS removed, toString(count()) AS rows
FROM callhouse.${table}
WHERE _partition_id = {month:String}
SETTINGS apply_deleted_mask = 0
