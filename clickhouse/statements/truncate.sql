-- Empties a table of the program's own.
TRUNCATE TABLE callhouse.${table}
