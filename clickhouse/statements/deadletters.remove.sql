-- Removes dead letters: a mutation, which writes the parts anew without the rows.
ALTER TABLE callhouse.dead_letters DELETE WHERE id IN {ids:Array(String)} SETTINGS mutations_sync = 2
