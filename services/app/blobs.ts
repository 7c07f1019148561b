// Chooses where large files and large records of the log lie: a bucket when one is set, else the data folder.
import { join } from 'node:path'
import { createFolderBlobs, type StoredBlobs } from '../core/blobs/blobs.ts'
import { parseBucketUrl } from '../core/blobs/bucket-url.ts'
import { removeOlder } from '../core/blobs/expiry.ts'
import { createLargeRecords, type LargeRecords, largeRecordsLongerMs } from '../core/log/kafka/large-records.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Config } from './config.ts'
import type { ServerRole } from './roles.ts'

export async function openBlobs(config: Config, role: ServerRole, logger: Logger): Promise<StoredBlobs> {
  const local = await createFolderBlobs({ dir: join(config.dataDir, 'blobs'), minFreeBytes: config.minFreeBytes })
  const bucket = parseBucketUrl(config.fileBucket)
  if (bucket === null) return local
  // Loaded on demand: the client is large, and most installations need none.
  const { createBucketBlobs } = await import('../core/blobs/bucket.ts')
  return createBucketBlobs({
    bucket,
    local,
    // Another process does not see this one's folder.
    mayStayLocal: role === 'serve',
    onRefused: (error) => logger.warn({ bucket: bucket.name, error: error.message }, 'bucket refused a file'),
  })
}

const hourMs = 3_600_000

/**
 * Records of a shared log that are larger than a message: in a place of their own, so that they can be removed by age.
 * A bucket removes them by a rule of its own (docs/operate/storage.md).
 */
export async function openLargeRecords(config: Config, logger: Logger): Promise<LargeRecords> {
  const { minFreeBytes } = config
  const dir = join(config.dataDir, 'log-records')
  const local = await createFolderBlobs({ dir, minFreeBytes })
  const bucket = parseBucketUrl(config.fileBucket)
  if (bucket !== null) {
    const { createBucketBlobs } = await import('../core/blobs/bucket.ts')
    const onRefused = (error: Error) =>
      logger.warn({ bucket: bucket.name, error: error.message }, 'bucket refused a large record')
    const prefix = `${bucket.prefix}log-records/`
    return createLargeRecords(
      createBucketBlobs({ bucket: { ...bucket, prefix }, local, mayStayLocal: false, onRefused }),
    )
  }
  const removeExpired = (): void => {
    const beforeMs = Date.now() - config.logRetentionHours * hourMs - largeRecordsLongerMs
    removeOlder(dir, beforeMs).catch((error: unknown) =>
      logger.warn({ error: String(error) }, 'old large records stay'),
    )
  }
  removeExpired()
  setInterval(removeExpired, hourMs).unref()
  return createLargeRecords(local)
}
