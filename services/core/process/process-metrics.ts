// Metrics of the process as a whole: what it is, whether its parts work, and the disk that it writes to.
import { statfs } from 'node:fs/promises'
import type { Registry } from 'prom-client'
import { metricsIn } from './metrics-in.ts'

type CheckStatus = 'ok' | 'degraded' | 'down'

const numbers: Record<CheckStatus, number> = { ok: 0, degraded: 1, down: 2 }

type Checks = Record<'log' | 'storage' | 'workers', CheckStatus> & {
  [more in 'keys' | 'providers' | 'topics']?: CheckStatus
}

const nothingWorks: Checks = { log: 'down', storage: 'down', workers: 'down' }

/** Whoever collects metrics waits for ten seconds or so, and needs the others most when a part does not answer. */
const limitMs = 2_000

async function inTime<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), limitMs)
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

/** @param health status of each part; a part that cannot be asked is down */
export function observeProcess(
  registry: Registry,
  about: { version: string; role: string; dataDir: string },
  health: () => Promise<Checks>,
): void {
  const { gauge, looked } = metricsIn(registry)
  gauge('callhouse_info', 'Version and role of this process', ...(['version', 'role'] as const))
    .labels(about.version, about.role)
    .set(1)
  looked(
    'callhouse_check_status',
    'What /health says of each part: 0 ok, 1 degraded, 2 down',
    async (status) => {
      const { log, storage, workers, keys = 'ok', providers = 'ok' } = await inTime(health()).catch(() => nothingWorks)
      for (const [check, found] of Object.entries({ log, storage, workers, keys, providers }))
        status.labels(check).set(numbers[found])
    },
    'check',
  )
  const disk = (name: string, help: string, read: (space: { bavail: number; blocks: number }) => number): void =>
    looked(name, help, async (bytes) => {
      const space = await statfs(about.dataDir).catch(() => undefined)
      if (space) bytes.set(read(space) * space.bsize)
    })
  disk('callhouse_disk_free_bytes', 'Free space where the data folder lies', ({ bavail }) => bavail)
  disk('callhouse_disk_size_bytes', 'Space where the data folder lies', ({ blocks }) => blocks)
}
