// Exports the tables as rows of the log's topics, so that an import appends them and every answer is the same.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Blobs } from '../../core/blobs/blobs.ts'
import { nodeFs } from '../../core/files/disk.ts'
import { closeToOthers } from '../../core/files/private-folder.ts'
import type { Log } from '../../core/log/log.ts'
import { packageVersion } from '../../core/process/version.ts'
import { quantity } from '../../core/quantity.ts'
import type { Store } from '../../core/store/store.ts'
import { topicNames, topics } from '../../events/registry.ts'
import { tables } from '../../tables/registry.ts'
import type { DeadLetters } from '../../worker/dead-letters/dead-letters.ts'
import { readViews } from '../rebuild/lineage.ts'
import type { Task } from '../tasks.ts'
import { type ArchiveFile, createArchiveWriter, writeExport } from './archive.ts'
import { exportDeadLetters } from './dead-letter-files.ts'
import { blobFiles, type ExportedTable, sources } from './exported-tables.ts'
import { type Chunk, createPages } from './pages.ts'

export type ExportDeps = {
  store: Pick<Store, 'rows' | 'bytes'>
  log: Pick<Log, 'end' | 'committed' | 'flush'>
  blobs: Pick<Blobs, 'read' | 'stat'>
  deadLetters: Pick<DeadLetters, 'list' | 'show'>
}

/** Clocks of edges may differ by so much. */
const skewUs = 3_600_000_000n
const appliedWaitMs = 120_000

/** Waits until the tables hold what was accepted before now. */
async function caughtUp(log: ExportDeps['log'], signal: AbortSignal): Promise<void> {
  const beganMs = Date.now()
  for (const topic of topicNames) {
    const end = await log.end(topic)
    log.flush(topic)
    for (;;) {
      const applied = await log.committed(topic)
      const isBehind = end.some(
        ({ partition, offset }) => offset > (applied.find((one) => one.partition === partition)?.offset ?? 0),
      )
      if (!isBehind) break
      if (Date.now() - beganMs > appliedWaitMs)
        throw new Error(`the tables are behind the log (${topic}): an export now would lack what was accepted`)
      await sleep(20, undefined, { signal })
    }
  }
}

/** @throws Error when a view of the installation fills a table from the log that this version does not know */
async function checkSources(store: ExportDeps['store']): Promise<void> {
  const known = new Set(['landed', ...tables.map(({ name }) => name)])
  const landings = Object.values(topics).map(({ landing }) => landing)
  const unknown = (await readViews(store)).find(({ source, target }) => landings.includes(source) && !known.has(target))
  if (unknown) throw new Error(`the table ${unknown.target} is filled from the log, and an export does not know it`)
}

/** An empty folder that only this user can enter, made when it is not there. */
export async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`)
  await closeToOthers(folder, 'user')
  await nodeFs.syncDir(dirname(folder))
}

/** Copies a content to its place, which is named by its digest; resolves to the place. */
async function copyBlob(content: AsyncIterable<Buffer>, folder: string): Promise<{ path: string; sizeBytes: number }> {
  const temporary = join(folder, `${randomUUID()}.tmp`)
  const handle = await open(temporary, 'wx', 0o640)
  const hash = createHash('sha256')
  let sizeBytes = 0
  try {
    for await (const bytes of content) {
      hash.update(bytes)
      sizeBytes += bytes.length
      await handle.appendFile(bytes)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  const sha256 = hash.digest('hex')
  const path = `blobs/${sha256.slice(0, 2)}/${sha256}`
  await mkdir(join(folder, dirname(path)), { recursive: true, mode: 0o750 })
  await rename(temporary, join(folder, path))
  return { path, sizeBytes }
}

const location = /,"blob":("(?:[^"\\]|\\.)*")\}\n?$/

/**
 * @param project null = all projects
 * @throws Error with a line for the operator
 */
export async function exportTo(
  deps: ExportDeps,
  { folder, project }: { folder: string; project: string | null },
  task: Task,
): Promise<void> {
  const { store, log, blobs } = deps
  await makeEmptyFolder(folder)
  await checkSources(store)
  const exportedAt = new Date()
  const clock = (BigInt(exportedAt.getTime()) * 1000n - skewUs) << 10n
  await caughtUp(log, task.signal)
  const pages = createPages(store, project, task.signal)
  const files: ArchiveFile[] = []
  const carried = { count: 0, sizeBytes: 0 }
  let withoutPayload = 0

  async function write(source: ExportedTable): Promise<void> {
    const out = createArchiveWriter(folder, source.table, { topic: source.topic, contents: 'rows' })
    try {
      const add = async (chunks: AsyncIterable<Chunk>): Promise<void> => {
        for await (const chunk of chunks) {
          await out.add(chunk.lines)
          withoutPayload += chunk.withoutPayload
          task.advanced(chunk.rows)
        }
      }
      await add(pages.chunks(source))
      if (source.table === 'calls') await add(pages.moved(source, clock))
      files.push(...(await out.end()))
    } finally {
      await out.discard()
    }
  }

  async function writeBlobs(): Promise<void> {
    const out = createArchiveWriter(folder, 'blob_files', { topic: 'files', contents: 'blobs' })
    try {
      for await (const chunk of pages.chunks(blobFiles))
        for (const line of chunk.lines.toString('utf8').split('\n').filter(Boolean)) {
          task.signal.throwIfAborted()
          const from = JSON.parse(location.exec(line)?.[1] ?? '""') as string
          if ((await blobs.stat(from)) === null) {
            task.note(`a file has no content at ${from}: its row is left out`)
            continue
          }
          const { path, sizeBytes } = await copyBlob(blobs.read(from), folder)
          await out.add(Buffer.from(`${line.replace(location, () => `,"blob":"${path}"}`)}\n`))
          carried.count++
          carried.sizeBytes += sizeBytes
          task.advanced(1)
        }
      files.push(...(await out.end()))
    } finally {
      await out.discard()
    }
  }

  for (const source of sources) await write(source)
  await writeBlobs()
  files.push(...(await exportDeadLetters(deps.deadLetters, { folder, project }, task)))
  const without = quantity(
    withoutPayload,
    'row of a call has no payload and is',
    'rows of calls have no payload and are',
  )
  if (withoutPayload > 0) task.note(`${without} exported without`)
  await writeExport(folder, {
    format: 'callhouse export',
    version: 1,
    callhouse: await packageVersion(),
    exportedAt: exportedAt.toISOString(),
    project,
    topics: Object.fromEntries(Object.values(topics).map(({ name, version }) => [name, version])),
    files,
    blobs: carried,
    notes: task.notes(),
  })
}
