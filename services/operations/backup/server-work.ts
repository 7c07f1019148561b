// Long statements that a ClickHouse server runs by itself: begun, looked at until they end, ended when nobody waits.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { quote } from '../../core/store/chdb/literals.ts'
import { type Store, StoreError } from '../../core/store/store.ts'
import type { Destination } from './destination.ts'

export type ServerWork = {
  store: Pick<Store, 'rows' | 'command'>
  /** Prints progress. */
  print(line: string): void
  signal: AbortSignal
}

const aside = { background: true }
const firstMs = 20
const maxWaitMs = 1_000
/** Longest wait for an end. */
const patienceMs = 5_000
/** Interval of progress lines. */
const progressEveryMs = 10_000

const accessDenied = 497
/** Names as in system.errors. */
const ofDestination = new Set([
  36 /* BAD_ARGUMENTS: a path or disk that is not allowed */, 318 /* INVALID_CONFIG_PARAMETER: none is allowed */,
  344 /* SUPPORT_IS_DISABLED */, 479 /* UNKNOWN_DISK */, 481 /* PATH_ACCESS_DENIED */, 499 /* S3_ERROR */,
  500 /* AZURE_BLOB_STORAGE_ERROR */, 598 /* BACKUP_ALREADY_EXISTS */, 599 /* BACKUP_NOT_FOUND */, 627, 669,
])
const ofFiles = new Set([
  107 /* FILE_DOESNT_EXIST */, 600 /* BACKUP_VERSION_NOT_SUPPORTED */, 601 /* BACKUP_DAMAGED */, 605, 606,
])

/** The message of the server, without the place in its program. */
const plain = (message: string): string =>
  message
    .replace(/, Stack trace[\s\S]*/, '')
    .replace(/^(?:Code: \d+\. DB::Exception: )+/, '')
    .slice(0, 1_000)

/** An error of the server as a line for the operator. */
export function operatorError(error: unknown, { shown }: Destination): Error {
  const text = error instanceof Error ? error.message : String(error)
  const code = error instanceof StoreError && error.code ? error.code : Number(/Code: (\d+)/.exec(text)?.[1] ?? 0)
  if (code === accessDenied)
    return new Error(
      `the user of the ClickHouse server lacks a right (docs/operate/backup.md lists them): ${plain(text)}`,
    )
  if (ofDestination.has(code)) return new Error(`the ClickHouse server refuses ${shown}: ${plain(text)}`)
  if (ofFiles.has(code)) return new Error(`the ClickHouse server cannot read ${shown}: ${plain(text)}`)
  return new Error(`the ClickHouse server: ${plain(text)}`)
}

/** The server was told to end, and has not ended yet. */
export class LeftRunning extends Error {}

type Progress = { status: string; error: string; done: number; size: number }

const mib = (bytes: number): number => Math.round(bytes / 2 ** 20)

/** The size of a backup is not known before its end. */
const progressLine = (isBackup: boolean, { done, size }: Progress): string =>
  isBackup ? `${mib(size)} MiB so far` : `${mib(done)} of ${mib(size)} MiB`

/**
 * Runs BACKUP or RESTORE to its end. The server goes on when this process ends, so a signal ends it there.
 * @param sql without settings
 * @param settings the limit of other statements would end it
 * @throws Error with a line for the operator
 */
export async function runOnServer(
  work: ServerWork,
  sql: string,
  destination: Destination,
  settings = 'max_execution_time = 0',
): Promise<void> {
  const { store, print, signal } = work
  const id = randomUUID()
  const isBackup = /^BACKUP\b/.test(sql)
  const look = async (): Promise<Progress | undefined> => {
    const query = {
      name: 'backup.progress',
      sql: `SELECT toString(status) AS status, error, toFloat64(bytes_read) AS done, toFloat64(total_size) AS size
        FROM system.backups WHERE id = {id:String}`,
      params: { id },
    }
    return (await store.rows<Progress>(query))[0]
  }
  const end = (): Promise<void> =>
    store.command(
      {
        name: 'backup.end',
        sql: `KILL QUERY WHERE position(query, ${quote(id)}) > 0 AND NOT startsWith(query, 'KILL') ASYNC`,
        params: {},
      },
      aside,
    )
  const begin = `${sql} SETTINGS id = ${quote(id)}, ${settings} ASYNC`
  let endedAt: number | undefined
  let reportedAt = performance.now()
  try {
    await store.command({ name: isBackup ? 'backup.begin' : 'restore.begin', sql: begin, params: {} }, aside)
    for (let waitMs = firstMs; ; waitMs = Math.min(maxWaitMs, waitMs * 2)) {
      const found = await look()
      if (found === undefined) throw new Error('it was restarted, or forgot what it was doing')
      if (/^(BACKUP_CREATED|RESTORED)$/.test(found.status)) return
      if (/FAILED|CANCELLED/.test(found.status)) throw new Error(found.error || found.status)
      if (signal.aborted && endedAt === undefined) {
        endedAt = performance.now()
        await end()
      }
      if (endedAt !== undefined && performance.now() - endedAt > patienceMs) break
      if (performance.now() - reportedAt > progressEveryMs) {
        reportedAt = performance.now()
        print(progressLine(isBackup, found))
      }
      await sleep(waitMs)
    }
  } catch (error) {
    if (signal.aborted) throw new Error('ended before it was done')
    throw operatorError(error, destination)
  }
  throw new LeftRunning(
    'ended before it was done; the ClickHouse server ends its work when the file under way is copied',
  )
}
