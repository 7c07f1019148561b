// Chooses where large files lie: a bucket when one is set, else the data folder.
import { join } from 'node:path'
import type { Config } from './config.ts'
import { type Blobs, createFolderBlobs } from './core/blobs.ts'
import { parseBucketUrl } from './core/bucket-url.ts'
import type { Logger } from './core/logger.ts'
import type { ServerRole } from './server-role.ts'

export async function openBlobs(config: Config, role: ServerRole, logger: Logger): Promise<Blobs> {
  const local = await createFolderBlobs({ dir: join(config.dataDir, 'blobs'), minFreeBytes: config.minFreeBytes })
  const bucket = parseBucketUrl(config.fileBucket)
  if (bucket === null) return local
  // Loaded on demand: the client is large, and most installations need none.
  const { createBucketBlobs } = await import('./core/blobs-bucket.ts')
  return createBucketBlobs({
    bucket,
    local,
    // Another process does not see this one's folder.
    mayStayLocal: role === 'serve',
    onRefused: (error) => logger.warn({ bucket: bucket.name, error: error.message }, 'bucket refused a file'),
  })
}
