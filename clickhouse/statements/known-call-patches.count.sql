-- How many patches are stored.
SELECT toFloat64(count()) AS n
FROM callhouse.call_patches
