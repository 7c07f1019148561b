// Copies a data folder while the server goes on: the tables frozen between two batches, and the log from there on.
import { rmSync } from 'node:fs'
import { cp, mkdir, open, readdir, readlink, rm, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { errorCode, nodeFs } from '../../core/files/disk.ts'
import type { Log } from '../../core/log/log.ts'
import { openPositionFile } from '../../core/log/segments/position-file.ts'
import { recoverTopic } from '../../core/log/segments/recovery.ts'
import { listSegments, type SegmentFile } from '../../core/log/segments/segment.ts'
import { topicIdName } from '../../core/log/segments/topic-id.ts'
import { packageVersion } from '../../core/process/version.ts'
import type { Store } from '../../core/store/store.ts'
import { sortedByKind } from '../../tables/registry.ts'
import type { Worker } from '../../worker/run.ts'
import type { Task } from '../tasks.ts'
import { makeEmptyFolder } from '../transfer/export.ts'
import {
  type BackupFile,
  copyFile,
  dataName,
  eachOf,
  filesBelow,
  rowsOfParts,
  sizeAndDigest,
  syncFolders,
  writeBackup,
} from './folder.ts'

type BackupDeps = {
  dataDir: string
  store: Pick<Store, 'rows' | 'command'>
  log: Pick<Log, 'committed' | 'topics'>
  worker: Pick<Worker, 'exclusive'>
  /** A rebuild exchanges tables and keeps half-filled ones. */
  isRebuilding(): Promise<boolean>
  /** Bucket of large files, if they are not in the data folder. */
  bucket: string
}

const frozenName = 'callhouse_backup'
/**
 * Files that belong to this moment or to other commands, that are copied apart, or that open the secrets in the backup.
 */
const notCopied =
  /^(clickhouse|log|blobs|lock|callhouse\.sock|rebuild\.json.*|directory\.jsonl\..*|import\.json.*|settings\.json|master\.key.*|in-flight-.*|.*\.tmp)$/

/**
 * Order of freezing: derived tables first, and before them the tables that say how far they were derived: then a table
 * never claims to cover rows that another, frozen later, does not hold. Its missing rows follow from the log and the
 * dirty buckets.
 */
const firstKinds = ['applied', 'cover', 'rollup'] as const

const frozenOf = (dataDir: string): string => join(dataDir, 'clickhouse/shadow', frozenName)

type Table = { name: string; uuid: string }

/** Copies that an earlier process froze and did not copy take space as soon as the tables merge: they go first. */
export function backupOf(deps: BackupDeps): (folder: string, task: Task) => Promise<void> {
  rmSync(frozenOf(deps.dataDir), { recursive: true, force: true })
  return (folder, task) => backupTo(deps, folder, task)
}

/** One backup under way: where it is copied from, where to, and what was copied. */
type Copying = BackupDeps & {
  task: Task
  /** Folder of the copied data folder. */
  data: string
  /** Frozen parts. */
  shadow: string
  files: BackupFile[]
}

async function readTables({ store }: Copying): Promise<Table[]> {
  const found = await store.rows<Table>({
    name: 'backup.tables',
    sql: `SELECT name, toString(uuid) AS uuid FROM system.tables
      WHERE database = 'callhouse' AND endsWith(engine, 'MergeTree') ORDER BY name`,
    params: {},
  })
  return sortedByKind(found, firstKinds)
}

const pathOf = (uuid: string): string => `clickhouse/store/${uuid.slice(0, 3)}/${uuid}`

const makeFolder = (path: string) => mkdir(path, { recursive: true, mode: 0o750 })

/** Definitions of the database and of its tables; the links that lead to them. */
async function copyDefinitions({ dataDir, data }: Copying): Promise<{ path: string; target: string }[]> {
  const engineDir = join(dataDir, 'clickhouse')
  await makeFolder(join(data, 'clickhouse/metadata'))
  await cp(join(engineDir, 'metadata/callhouse.sql'), join(data, 'clickhouse/metadata/callhouse.sql'))
  const target = await readlink(join(engineDir, 'metadata/callhouse'))
  const definitions = join('clickhouse/metadata', target)
  await makeFolder(join(data, definitions))
  for (const name of await readdir(join(dataDir, definitions)))
    if (name.endsWith('.sql')) await cp(join(dataDir, definitions, name), join(data, definitions, name))
  return [{ path: 'clickhouse/metadata/callhouse', target }]
}

/** Copies the files that the engine keeps beside the parts of a table. */
async function copyTableFiles({ dataDir, data }: Copying, { uuid }: Table): Promise<void> {
  const from = join(dataDir, pathOf(uuid))
  await makeFolder(join(data, pathOf(uuid)))
  for (const entry of await readdir(from, { withFileTypes: true }))
    if (entry.isFile() && !entry.name.startsWith('tmp'))
      await cp(join(from, entry.name), join(data, pathOf(uuid), entry.name))
}

const copySegment = ({ data }: Copying, topic: string, { path }: SegmentFile) =>
  cp(path, join(data, 'log', topic, path.slice(path.lastIndexOf('/') + 1)), { errorOnExist: true, force: false })

/**
 * Copies the segments of each topic that hold records which the tables lack, or the newest; returns the older ones.
 */
async function copyLog(copying: Copying, positions: Record<string, number>): Promise<Map<string, SegmentFile[]>> {
  const { dataDir, data, log } = copying
  const earlier = new Map<string, SegmentFile[]>()
  for (const topic of log.topics) {
    await makeFolder(join(data, 'log', topic))
    await cp(join(dataDir, 'log', topic, topicIdName), join(data, 'log', topic, topicIdName))
    const { files } = await listSegments(nodeFs, join(dataDir, 'log', topic))
    const from = Math.max(
      0,
      files.findLastIndex(({ first }) => first <= (positions[topic] ?? 0) + 1),
    )
    for (const file of files.slice(from)) await copySegment(copying, topic, file)
    earlier.set(topic, files.slice(0, from).reverse())
  }
  return earlier
}

/** Freezes the tables and copies what may change from here on, while no batch is applied. */
async function freeze(copying: Copying) {
  const { log, store } = copying
  const positions: Record<string, number> = {}
  for (const topic of log.topics) positions[topic] = (await log.committed(topic))[0]?.offset ?? 0
  const frozen = await readTables(copying)
  for (const { name } of frozen)
    await store.command({
      name: 'backup.freeze',
      sql: `ALTER TABLE callhouse.${name} FREEZE WITH NAME '${frozenName}'`,
      params: {},
    })
  const links = await copyDefinitions(copying)
  for (const table of frozen) await copyTableFiles(copying, table)
  if (JSON.stringify(await readTables(copying)) !== JSON.stringify(frozen))
    throw new Error('tables were exchanged meanwhile: try again')
  // After the tables: no table may know of a position that the log has not.
  const earlier = await copyLog(copying, positions)
  return { positions, frozen, links, earlier }
}

/** Retention may take the older segments away meanwhile: what is left must be without gaps. */
async function copyEarlierSegments(copying: Copying, earlier: ReadonlyMap<string, SegmentFile[]>): Promise<void> {
  for (const [topic, files] of earlier)
    for (const file of files) {
      const isThere = await copySegment(copying, topic, file).then(
        () => true,
        (error: unknown) => {
          if (errorCode(error) === 'ENOENT') return false
          throw error
        },
      )
      if (!isThere) break
    }
}

/** Writes how far the log was applied, checks its records, and cuts off one that was being written. */
async function finishLog({ data, log }: Copying, positions: Record<string, number>): Promise<void> {
  for (const topic of log.topics) {
    const copied = join(data, 'log', topic)
    const written = await openPositionFile(nodeFs, copied, positions[topic] as number)
    await written.close()
    await (await recoverTopic(nodeFs, copied, undefined)).position.close()
  }
}

/** Makes the files that were copied so far durable, and notes them. */
async function noteCopied({ data, files }: Copying): Promise<void> {
  await eachOf(await filesBelow(data), async (path) => {
    const handle = await open(join(data, path), 'r')
    try {
      await handle.chmod((await handle.stat()).mode & 0o700)
      await handle.sync()
    } finally {
      await handle.close()
    }
    files.push({ path, ...(await sizeAndDigest(join(data, path))) })
  })
}

async function carry({ task, data, files }: Copying, from: string, path: string, mayVanish = false): Promise<void> {
  task.signal.throwIfAborted()
  try {
    files.push({ path, ...(await copyFile(from, join(data, path))) })
  } catch (error) {
    if (!mayVanish || errorCode(error) !== 'ENOENT') throw error
    await rm(join(data, path), { force: true })
  }
}

/** Copies the frozen parts, the contents and the files beside them. */
async function carryFiles(copying: Copying): Promise<void> {
  const { dataDir, shadow } = copying
  const parts = await filesBelow(join(shadow, 'store'))
  await eachOf(parts, (path) => carry(copying, join(shadow, 'store', path), `clickhouse/store/${path}`))
  // Contents are stored before the rows that name them.
  const blobs = (await filesBelow(join(dataDir, 'blobs'))).filter((path) => !path.startsWith('tmp/'))
  await eachOf(blobs, (path) => carry(copying, join(dataDir, 'blobs', path), `blobs/${path}`, true))
  for (const name of (await readdir(dataDir)).filter((entry) => !notCopied.test(entry)))
    if ((await stat(join(dataDir, name))).isFile()) await carry(copying, join(dataDir, name), name)
}

async function engineVersion({ store }: Copying): Promise<string> {
  const query = { name: 'backup.engine', sql: 'SELECT version() AS version', params: {} }
  const [engine] = await store.rows<{ version: string }>(query)
  return engine?.version ?? ''
}

/** Rows of each frozen table, as the parts say. */
async function countRows({ data, files }: Copying, frozen: readonly Table[]): Promise<Record<string, number>> {
  const rows = await rowsOfParts(
    data,
    files.map(({ path }) => path),
  )
  return Object.fromEntries(frozen.map(({ name, uuid }) => [name, rows.get(uuid) ?? 0]))
}

/** @throws Error with a line for the operator */
async function backupTo(deps: BackupDeps, folder: string, task: Task): Promise<void> {
  const { dataDir, worker } = deps
  const shadow = frozenOf(dataDir)
  const copying: Copying = { ...deps, task, data: join(folder, dataName), shadow, files: [] }
  const begunAt = new Date().toISOString()
  if (await deps.isRebuilding()) throw new Error('a table is being rebuilt, or its rebuild is unfinished: end it first')
  if (!relative(dataDir, folder).startsWith('..')) throw new Error('the backup must not lie in the data folder')
  await makeEmptyFolder(folder)
  await mkdir(copying.data, { mode: 0o750 })
  await rm(shadow, { recursive: true, force: true })
  try {
    task.doing('freezes the tables')
    const { positions, frozen, links, earlier } = await worker.exclusive(() => freeze(copying))
    task.doing('copies')
    await copyEarlierSegments(copying, earlier)
    await finishLog(copying, positions)
    await noteCopied(copying)
    await carryFiles(copying)
    if (deps.bucket !== '') task.note(`large files lie in ${deps.bucket}: they are not in the backup`)
    const tables = await countRows(copying, frozen)
    task.advanced(Object.values(tables).reduce((sum, count) => sum + count, 0))
    await syncFolders(folder)
    const about = { format: 'callhouse backup', version: 1, callhouse: await packageVersion() } as const
    const files = copying.files.sort((a, b) => (a.path < b.path ? -1 : 1))
    await writeBackup(
      folder,
      { ...about, engine: await engineVersion(copying), begunAt, positions, tables, links },
      files,
    )
  } finally {
    await rm(shadow, { recursive: true, force: true })
  }
}
