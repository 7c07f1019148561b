-- Objects of some digests that have a label: somebody wants them.
SELECT DISTINCT digest
FROM callhouse.object_labels FINAL
WHERE project_id = {project:String} AND is_set = 1 AND digest IN {digests:Array(String)}
