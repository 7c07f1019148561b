-- Erasures that are not done, in the order of their deletes.
SELECT ${columns}
FROM callhouse.erasures FINAL
WHERE status != 'done'
ORDER BY until_ver
