// Imports an export: checks all of it, then appends its rows to the log; the tables follow as from any other write.
import { createReadStream } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Blobs } from '../../core/blobs/blobs.ts'
import { Refusal } from '../../core/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Log, Position, RecordInput } from '../../core/log/log.ts'
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

/**
 * Nothing is written before everything was read and found whole. May be repeated: rows that are there stay.
 * @throws Error with a line for the operator
 */
export async function importFrom(deps: ImportDeps, folder: string, task: Task): Promise<void> {
  const { log, blobs } = deps
  const { signal } = task
  const manifest = await readExport(folder)
  task.doing('checks the export')
  for (const file of manifest.files) await checkFile(folder, file, signal)
  task.expects(manifest.files.reduce((sum, { rows }) => sum + rows, 0))

  const done = await resumed(manifest)
  const fullBytes = Math.min(recordBytes, log.limits.recordBytes / 2)
  const appended = new Map<string, Position>()

  async function resumed({ sha256 }: Manifest): Promise<Set<string>> {
    const state = await stateOf(deps.stateFile)
    if (state?.sha256 !== sha256) return new Set()
    task.note(`goes on after ${state.done.length} files that were imported before`)
    return new Set(state.done)
  }
  async function remember(path: string): Promise<void> {
    done.add(path)
    await writeFile(`${deps.stateFile}.tmp`, JSON.stringify({ sha256: manifest.sha256, done: [...done] }))
    await rename(`${deps.stateFile}.tmp`, deps.stateFile)
  }

  /** A log that takes no more is waited for. */
  async function append(topic: TopicName, record: RecordInput): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      try {
        const position = await log.append(topic, [record])
        appended.set(`${topic}/${position.partition}`, position)
        task.doing('')
        deps.onClock(record.clock)
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

  const flush = async (topic: TopicName, { lines, patches, clock, key, projects }: Pending): Promise<void> => {
    const rows = Buffer.concat(lines.flatMap((line) => [line, newline]))
    try {
      await append(topic, { rows, rowCount: lines.length, patchCount: patches, clock, key, projects })
    } catch (error) {
      const { project, id } = headOf(lines[0] as Buffer)
      if (error instanceof Refusal) throw new Error(`${topic}, ${project} ${id}: ${error.message}`)
      throw error
    }
  }

  async function upload(line: Buffer, project: string): Promise<Buffer> {
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

  async function importFile({ path, topic, contents }: ArchiveFile): Promise<void> {
    const byKey = new Map<string, Pending>()
    const partitions = log.partitions(topic)
    const flushAll = async (): Promise<void> => {
      for (const pending of byKey.values()) await flush(topic, pending)
      byKey.clear()
    }
    /** The record that takes a row of a key: a new one when the last one is full. */
    const recordFor = async (key: string, rowBytes: number): Promise<Pending> => {
      const pending = byKey.get(key)
      if (pending && pending.bytes + rowBytes <= fullBytes && pending.lines.length < recordRows) return pending
      if (pending) await flush(topic, pending)
      // Each project has a pending record: many of them together are not kept waiting.
      else if (byKey.size >= Math.max(64, partitions)) await flushAll()
      const begun: Pending = { lines: [], bytes: 0, patches: 0, clock: 0n, key, projects: new Map() }
      byKey.set(key, begun)
      return begun
    }
    for await (const line of readLines(join(folder, path))) {
      signal.throwIfAborted()
      const { project, id, clock } = headOf(line)
      // Everything about one call goes to one partition.
      const key = topic === 'calls' ? String(partitionOfCall(project, id, partitions)) : project
      const row = contents === 'blobs' ? await upload(line, project) : line
      const isPatch = topic === 'calls' && !line.subarray(0, complete.length).equals(complete)
      addRow(await recordFor(key, row.length), { row, project, clock, isPatch })
    }
    await flushAll()
  }

  for (const file of manifest.files) {
    if (done.has(file.path)) {
      task.advanced(file.rows)
      continue
    }
    if (file.contents === 'dead letters') await importDeadLetters(deps.deadLetters, folder, file, task)
    else await importFile(file)
    await remember(file.path)
  }
  if (deps.waits) {
    task.doing('waits for the tables')
    for (const { topic, partition, offset } of appended.values())
      while (!(await log.committed(topic)).some((one) => one.partition === partition && one.offset >= offset)) {
        log.flush(topic)
        await sleep(50, undefined, { signal })
      }
  }
  await rm(deps.stateFile, { force: true })
}
