// Deletes and removals since a backup, as lines of a file: a restore deletes the same data again before anybody reads.
import { createReadStream, existsSync } from 'node:fs'
import { copyFile, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { nodeFs } from '../../core/files/disk.ts'
import type { Log } from '../../core/log/log.ts'
import type { Store } from '../../core/store/store.ts'
import { appendCalls, callSplitOf, createCallWriter } from '../../events/calls-writer.ts'
import { recordOfRows } from '../../events/declaration.ts'
import { logsTopic } from '../../events/logs.ts'

const projectId = z.string().regex(/^[^/]+\/[^/]+$/, 'must be an <entity>/<project>')
const deletedCall = z.strictObject({
  project_id: projectId,
  id: z.string().min(1),
  /** Accept timestamp of the delete. */
  clock: z.string().regex(/^[1-9]\d{0,19}$/, 'must be a whole number'),
})
const deletedLog = z.strictObject({
  project_id: projectId,
  log_id: z.string().min(1),
  /** Time of the record in nanoseconds since 1970. */
  at: z.string().regex(/^\d{1,19}$/, 'must be a whole number'),
  clock: deletedCall.shape.clock,
})
const removedProject = z.strictObject({ project_id: projectId, removed_at: z.iso.datetime() })
const erasedLine = z.union([deletedCall, deletedLog, removedProject])

export type DeletedCall = z.output<typeof deletedCall>
export type DeletedLog = z.output<typeof deletedLog>
export type ErasedLine = z.output<typeof erasedLine>

/** Deleted calls of all projects behind one of them, in the order of projects and ids. */
export const deletedCalls = (
  store: Pick<Store, 'rows'>,
  after: { project_id: string; id: string },
  limit: number,
): Promise<DeletedCall[]> =>
  store.rows<DeletedCall>(
    {
      name: 'erased.deletes',
      sql: `SELECT project_id, id, toString(max(clock)) AS clock FROM callhouse.call_patches
        WHERE kind = 'delete' AND (project_id, id) > ({project:String}, {id:String})
        GROUP BY project_id, id ORDER BY project_id, id LIMIT {limit:UInt64}`,
      params: { project: after.project_id, id: after.id, limit },
    },
    { pool: 'background' },
  )

/** Log records that were deleted by themselves, in the same order. */
export const deletedLogs = (
  store: Pick<Store, 'rows'>,
  after: { project_id: string; log_id: string; at: string },
  limit: number,
): Promise<DeletedLog[]> =>
  store.rows<DeletedLog>(
    {
      name: 'erased.deleted-logs',
      sql: `SELECT project_id, id AS log_id, toString(toUnixTimestamp64Nano(time)) AS at, toString(max(delete_ver)) AS clock
        FROM (SELECT project_id, id, logs_deleted.at AS time, delete_ver FROM callhouse.logs_deleted)
        WHERE (project_id, id, time) > ({project:String}, {id:String}, fromUnixTimestamp64Nano({at:Int64}, 'UTC'))
        GROUP BY project_id, id, time ORDER BY project_id, id, time LIMIT {limit:UInt64}`,
      params: { project: after.project_id, id: after.log_id, at: after.at, limit },
    },
    { pool: 'background' },
  )

/** @throws Error that names the line which cannot be used */
export async function* readErased(file: string): AsyncGenerator<ErasedLine> {
  let number = 0
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    if (line === '') continue
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      throw new Error(`${file}: line ${number}: not JSON`)
    }
    const { success, data } = erasedLine.safeParse(value)
    if (!success)
      throw new Error(
        `${file}: line ${number}: must have project_id, id and clock, project_id, log_id, at and clock, or project_id and removed_at`,
      )
    yield data
  }
}

const callsAtOnce = 10_000

const deletesAgain = (projectId: string, records: readonly DeletedLog[]) =>
  recordOfRows(
    logsTopic,
    records
      .map(({ log_id, at, clock }) => ({
        project_id: projectId,
        id: log_id,
        clock: BigInt(clock),
        at_ns: at,
        deleted: 1,
      }))
      .sort((a, b) => (a.clock < b.clock ? -1 : 1)),
  )

/**
 * Appends the deletes of a file once more, each under its own accept timestamp: what it hides is removed with whatever is
 * due, however old the backup is.
 * @returns how many
 */
export async function deleteAgain(log: Pick<Log, 'append' | 'partitions' | 'limits'>, file: string): Promise<number> {
  let writer = createCallWriter(callSplitOf(log))
  let waiting = 0
  let count = 0
  let records: DeletedLog[] = []
  const write = async () => {
    for (const [projectId, own] of Map.groupBy(records, ({ project_id }) => project_id))
      await log.append(logsTopic.name, [deletesAgain(projectId, own)])
    records = []
    await appendCalls(log, writer.take())
    count += waiting
    waiting = 0
    writer = createCallWriter(callSplitOf(log))
  }
  for await (const line of readErased(file)) {
    if ('removed_at' in line) continue
    if ('log_id' in line) records.push(line)
    else writer.add({ kind: 'delete', projectId: line.project_id as never, id: line.id, clock: BigInt(line.clock) })
    if (++waiting === callsAtOnce) await write()
  }
  if (waiting > 0) await write()
  return count
}

const waitingName = 'erased-since-backup.jsonl'

/** Leaves the file in a data folder: the server that opens it next deletes again before its port opens. */
export async function leaveErased(dataDir: string, file: string): Promise<void> {
  const path = join(dataDir, waitingName)
  await copyFile(file, `${path}.new`)
  const handle = await open(`${path}.new`, 'r+')
  try {
    await handle.chmod(0o600)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
  await nodeFs.syncDir(dataDir)
}

/** @returns how many calls and log records were deleted again, undefined where nothing was left */
export async function takeErased(
  dataDir: string,
  log: Pick<Log, 'append' | 'partitions' | 'limits'>,
): Promise<number | undefined> {
  const path = join(dataDir, waitingName)
  if (!existsSync(path)) return undefined
  const count = await deleteAgain(log, path)
  await rm(path)
  return count
}
