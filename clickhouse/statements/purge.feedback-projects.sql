-- Projects of which there is feedback.
SELECT DISTINCT project_id
FROM callhouse.feedback
WHERE purged = 0
