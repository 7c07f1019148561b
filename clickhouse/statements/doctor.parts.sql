-- How many parts there are, the most of one partition, and those that the engine set aside as broken.
SELECT
    toString(sum(n)) AS parts,
    toString(max(n)) AS most,
    (
        SELECT toString(count())
        FROM system.detached_parts
        WHERE database = {database:String} AND reason NOT IN ('', 'ignored')
    ) AS broken
FROM
(
    SELECT count() AS n
    FROM system.parts
    WHERE active AND database = {database:String}
    GROUP BY table, partition
)
