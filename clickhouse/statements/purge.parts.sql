-- Removes fragments of hidden calls.
DELETE FROM callhouse.call_patches
WHERE ${where}
