-- Agents send all messages before a turn with it again. Histories that stand in the same block, and in what the codec
-- remembers of it, are stored once (docs/adr/0060): 8 MiB of both instead of 1 MiB and half of one. Parts that are there
-- follow when they are merged.
ALTER TABLE callhouse.payloads
    MODIFY COLUMN inputs String CODEC(ZSTD(1, 23)) SETTINGS (max_compress_block_size = 8388608);
