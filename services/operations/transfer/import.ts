// Imports an export: checks all of it, then appends its rows to the log; the tables follow as from any other write.
import { createReadStream } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Blobs } from '../../core/blobs/blobs.ts'
import { Refusal } from '../../core/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Log, Position, RecordInput } from '../../core/log/log.ts'
import { quantity } from '../../core/quantity.ts'
import { partitionOfCall } from '../../events/calls-writer.ts'
import type { TopicName } from '../../events/registry.ts'
import type { DeadLetters } from '../../worker/dead-letters/dead-letters.ts'
import type { Task } from '../tasks.ts'
import { type ArchiveFile, blobOf, checkFile, type Manifest, readExport, readLines, withBlob } from './archive.ts'
import { importDeadLetters } from './dead-letter-files.ts'

export type ImportDeps = {
  log: Pick<Log, 'append' | 'committed' | 'flush' | 'partitions' | 'limits'>
  blobs: Pick<Blobs, 'upload'>
  deadLetters: Pick<DeadLetters, 'add'>
  /** Says how far an import got that was broken off. */
  stateFile: string
  /** Called with the greatest accept timestamp that was appended, so that later writes have greater ones. */
  onClock(clock: bigint): void
  /** Whether to wait until the tables have everything: only where this process applies it. */
  waits: boolean
}

const recordBytes = 2 ** 20
const recordRows = 1_000
const newline = Buffer.from('\n')

const head = /^\{(?:"kind":"[a-z]+",)?"project_id":("(?:[^"\\]|\\.)*")(?:,"id":("(?:[^"\\]|\\.)*"))?/
const clockText = /,"clock":(\d+)/
const complete = Buffer.from('{"kind":"complete"')

/** The facts about a line that the log needs. Only keys come before the clock, so the beginning of a line tells. */
function headOf(line: Buffer): { project: string; id: string; clock: bigint } {
  for (const bytes of [4096, line.length]) {
    const text = line.toString('utf8', 0, bytes)
    const [, project, id] = head.exec(text) ?? []
    const clock = clockText.exec(text)?.[1]
    if (project === undefined || clock === undefined) continue
    return { project: JSON.parse(project) as string, id: JSON.parse(id ?? '""') as string, clock: BigInt(clock) }
  }
  throw new Error('a row has no project or no clock')
}

type Pending = {
  lines: Buffer[]
  bytes: number
  patches: number
  clock: bigint
  key: string
  projects: Map<string, number>
}

function addRow(
  pending: Pending,
  { row, project, clock, isPatch }: { row: Buffer; project: string; clock: bigint; isPatch: boolean },
): void {
  const bytes = row.length + 1
  pending.lines.push(row)
  pending.bytes += bytes
  pending.projects.set(project, (pending.projects.get(project) ?? 0) + bytes)
  if (isPatch) pending.patches++
  if (clock > pending.clock) pending.clock = clock
}

const stateOf = async (path: string): Promise<{ sha256: string; done: string[] } | null> =>
  readFile(path, 'utf8').then(
    (text) => JSON.parse(text) as { sha256: string; done: string[] },
    () => null,
  )

/** One import under way. */
type Importing = ImportDeps & {
  folder: string
  task: Task
  /** The last record of each partition that was appended. */
  appended: Map<string, Position>
}

/** Files that an import of the same export, which was broken off, has imported. */
async function importedBefore({ stateFile, task }: Importing, { sha256 }: Manifest): Promise<Set<string>> {
  const state = await stateOf(stateFile)
  if (state?.sha256 !== sha256) return new Set()
  task.note(`goes on after ${quantity(state.done.length, 'file that was', 'files that were')} imported before`)
  return new Set(state.done)
}

async function remember({ stateFile }: Importing, { sha256 }: Manifest, done: ReadonlySet<string>): Promise<void> {
  await writeFile(`${stateFile}.tmp`, JSON.stringify({ sha256, done: [...done] }))
  await rename(`${stateFile}.tmp`, stateFile)
}

/** A log that takes no more is waited for. */
async function append(importing: Importing, topic: TopicName, record: RecordInput): Promise<void> {
  const { log, task } = importing
  const { signal } = task
  for (;;) {
    signal.throwIfAborted()
    try {
      const position = await log.append(topic, [record])
      importing.appended.set(`${topic}/${position.partition}`, position)
      task.doing('')
      importing.onClock(record.clock)
      task.advanced(record.rowCount)
      return
    } catch (error) {
      if (!(error instanceof Refusal) || error.retryAfterSeconds === undefined) throw error
      task.doing(`waits: ${error.message}`)
      log.flush(topic)
      await sleep(Math.min(5, error.retryAfterSeconds) * 200, undefined, { signal })
    }
  }
}

async function flush(importing: Importing, topic: TopicName, pending: Pending): Promise<void> {
  const { lines, patches, clock, key, projects } = pending
  const rows = Buffer.concat(lines.flatMap((line) => [line, newline]))
  try {
    await append(importing, topic, { rows, rowCount: lines.length, patchCount: patches, clock, key, projects })
  } catch (error) {
    const { project, id } = headOf(lines[0] as Buffer)
    if (error instanceof Refusal) throw new Error(`${topic}, ${project} ${id}: ${error.message}`)
    throw error
  }
}

/** Uploads the content of a large file. @returns its row, with where the content lies now */
async function upload({ blobs, folder, task }: Importing, line: Buffer, project: string): Promise<Buffer> {
  const { signal } = task
  const digest = /"digest":"([A-Za-z0-9]{43,64})"/.exec(line.toString('utf8', 0, 4096))?.[1]
  if (digest === undefined) throw new Error('a row of a large file has no digest')
  for (;;) {
    signal.throwIfAborted()
    try {
      const content = await blobs.upload()
      try {
        for await (const bytes of createReadStream(join(folder, blobOf(line).path))) await content.write(bytes)
      } catch (error) {
        await content.discard()
        throw error
      }
      return withBlob(line, await content.commit(project as ProjectId, digest))
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'unavailable') throw error
      task.doing(`waits: ${error.message}`)
      await sleep(1_000, undefined, { signal })
    }
  }
}

/** Pending records by key. */
type Open = { topic: TopicName; byKey: Map<string, Pending>; most: number }

async function flushAll(importing: Importing, { topic, byKey }: Open): Promise<void> {
  for (const pending of byKey.values()) await flush(importing, topic, pending)
  byKey.clear()
}

/** The record that takes a row of a key: a new one when the last one is full. */
async function recordFor(importing: Importing, open: Open, key: string, rowBytes: number): Promise<Pending> {
  const { topic, byKey, most } = open
  const fullBytes = Math.min(recordBytes, importing.log.limits.recordBytes / 2)
  const pending = byKey.get(key)
  if (pending && pending.bytes + rowBytes <= fullBytes && pending.lines.length < recordRows) return pending
  if (pending) await flush(importing, topic, pending)
  // Each project has a pending record: many of them together are not kept waiting.
  else if (byKey.size >= most) await flushAll(importing, open)
  const begun: Pending = { lines: [], bytes: 0, patches: 0, clock: 0n, key, projects: new Map() }
  byKey.set(key, begun)
  return begun
}

async function importRows(importing: Importing, { path, topic, contents }: ArchiveFile): Promise<void> {
  const partitions = importing.log.partitions(topic)
  const open: Open = { topic, byKey: new Map(), most: Math.max(64, partitions) }
  for await (const line of readLines(join(importing.folder, path))) {
    importing.task.signal.throwIfAborted()
    const { project, id, clock } = headOf(line)
    // Everything about one call goes to one partition.
    const key = topic === 'calls' ? String(partitionOfCall(project, id, partitions)) : project
    const row = contents === 'blobs' ? await upload(importing, line, project) : line
    const isPatch = topic === 'calls' && !line.subarray(0, complete.length).equals(complete)
    addRow(await recordFor(importing, open, key, row.length), { row, project, clock, isPatch })
  }
  await flushAll(importing, open)
}

async function waitForTables({ log, task, appended }: Importing): Promise<void> {
  task.doing('waits for the tables')
  for (const { topic, partition, offset } of appended.values())
    while (!(await log.committed(topic)).some((one) => one.partition === partition && one.offset >= offset)) {
      log.flush(topic)
      await sleep(50, undefined, { signal: task.signal })
    }
}

/**
 * Nothing is written before everything was read and found whole. May be repeated: rows that are there stay.
 * @throws Error with a line for the operator
 */
export async function importFrom(deps: ImportDeps, folder: string, task: Task): Promise<void> {
  const importing: Importing = { ...deps, folder, task, appended: new Map() }
  const manifest = await readExport(folder)
  task.doing('checks the export')
  for (const file of manifest.files) await checkFile(folder, file, task.signal)
  task.expects(manifest.files.reduce((sum, { rows }) => sum + rows, 0))
  const done = await importedBefore(importing, manifest)
  for (const file of manifest.files) {
    if (done.has(file.path)) {
      task.advanced(file.rows)
      continue
    }
    if (file.contents === 'dead letters') await importDeadLetters(deps.deadLetters, folder, file, task)
    else await importRows(importing, file)
    done.add(file.path)
    await remember(importing, manifest, done)
  }
  if (deps.waits) await waitForTables(importing)
  await rm(deps.stateFile, { force: true })
}
