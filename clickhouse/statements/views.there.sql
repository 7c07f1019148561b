-- Which of some views exist.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND name IN {names:Array(String)} AND engine = 'MaterializedView'
