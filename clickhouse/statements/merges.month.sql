-- Merges a month of calls into one part.
OPTIMIZE TABLE callhouse.calls PARTITION ID '${month}' FINAL
