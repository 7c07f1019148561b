// The log of one machine: a folder of segment files per topic, durable by group fdatasync. Puts the driver together.
import { dirname, join, resolve } from 'node:path'
import { type FolderLock, takeLock } from '../../process/folder-lock.ts'
import type { Log, LogHealth } from '../log.ts'
import { createProjectEnds, type ProjectEnds } from '../project-ends.ts'
import { type Topics, topicIn } from '../topic.ts'
import { createAdmission } from './admission.ts'
import { createSegmentDelivery, type SegmentDelivery } from './delivery.ts'
import { guardedFs, type LogFs, nodeFs } from './disk.ts'
import { waitForEarlierBuild } from './earlier-lock.ts'
import { createEnginePath } from './engine-path.ts'
import { type Recovered, recoverTopic } from './recovery.ts'
import { createRetention, type Retention } from './retention.ts'
import { listSegments } from './segment.ts'
import { openTopicId, type TopicId } from './topic-id.ts'
import { sumOf } from './unapplied.ts'
import { createWriter, type LogCounters, type LogLogger, type SegmentWriter } from './writer.ts'

export type EmbeddedLogOptions = {
  /** Folder of the log; created when missing. One process at a time. */
  dir: string
  topics: Topics
  /** Lock of the folder, or of one around it. Without one the log takes that of its own folder. */
  lock?: Pick<FolderLock, 'check'>
  /** More than this appended and not applied: 429. */
  maxUnappliedBytes: number
  /** The option of `createAdmission`. */
  readersWaitMs?: number | undefined
  /** Less than this or the share of `requiredFreeBytes` free: 503. */
  minFreeBytes: number
  /** Time for which applied segments are kept, compressed. The newest of each topic stays always. */
  retentionMs: number
  /** The age at which the data of some project is hidden: applied segments go no later. */
  hiddenAfterMs?: () => number
  segmentBytes?: number
  /** A segment is delivered this long after its first record when the consumer waits. */
  sealAfterMs?: number
  /** Least time between segments that a waiting reader asks for. */
  flushEveryMs?: number
  /** Opens a log that ends before a position that was committed, for a caller that takes it as it is. */
  mayEndEarly?: boolean
  logger?: LogLogger
  fs?: LogFs
}

export type EmbeddedLog = Log & {
  /** Totals since the start, all topics. */
  counters(): LogCounters
  /** Compresses and removes applied segments now. */
  tidy(): Promise<void>
}

type OpenTopic = {
  id: TopicId
  writer: SegmentWriter
  delivery: SegmentDelivery
  retention: Retention
  ends: ProjectEnds
  lost: Recovered['lost']
  close(): Promise<void>
}

const mib = 2 ** 20
const busyMs = 1000

/** Opens or creates a log. Throws when another process holds it, or when records that were acknowledged are damaged. */
export async function createEmbeddedLog(options: EmbeddedLogOptions): Promise<EmbeddedLog> {
  const { topics, logger, segmentBytes = 16 * mib, sealAfterMs = 60, flushEveryMs = 50 } = options
  const { maxUnappliedBytes, minFreeBytes, retentionMs, hiddenAfterMs, mayEndEarly } = options
  const dir = resolve(options.dir)
  const disk = options.fs ?? nodeFs
  if (await disk.mkdir(dir)) await disk.syncDir(dirname(dir))
  const own = options.lock === undefined ? await takeLock(dir) : undefined
  const { check } = options.lock ?? (own as FolderLock)
  const fs = guardedFs(disk, check)
  const { readersWaitMs } = options
  const admission = createAdmission({ fs, dir, maxUnappliedBytes, minFreeBytes, readersWaitMs })
  const counters: LogCounters = {
    appends: 0,
    records: 0,
    bytes: 0,
    groups: 0,
    syncs: 0,
    dirSyncs: 0,
    segments: 0,
    failedGroups: 0,
    commits: 0,
  }
  const opened = new Map<string, OpenTopic>()
  /** Positions that the tables are known to hold; nothing is removed before they are reported. */
  const remembered = new Map<string, number>()
  let lastClock = 0n
  let lastActiveMs = 0
  let closing: Promise<void> | null = null

  const isBusy = (): boolean =>
    Date.now() - lastActiveMs < busyMs ||
    [...opened.values()].some(({ writer, delivery }) => writer.isWriting() || delivery.isApplying())

  async function openTopic(topic: string, beginAfter?: number): Promise<void> {
    const folder = join(dir, topic)
    if (await fs.mkdir(folder)) await fs.syncDir(dir)
    const id = await openTopicId(fs, folder)
    const recovered = await recoverTopic(fs, folder, logger, { beginAfter, mayEndEarly })
    const enginePath = await createEnginePath(folder)
    if (recovered.highClock > lastClock) lastClock = recovered.highClock
    for (const segment of recovered.unapplied) admission.restore(segment.sizeBytes)
    const { position, archives, applied, unapplied, lost } = recovered
    const writer = createWriter({
      fs,
      folder,
      topic,
      version: topicIn(topics, topic).version,
      segmentBytes,
      lastOffset: recovered.lastOffset,
      highClock: recovered.highClock,
      admission,
      counters,
      logger,
      onGroup() {
        lastActiveMs = Date.now()
        delivery.checkSeal()
      },
      onSealed: (segment) => delivery.add(segment),
    })
    const delivery = createSegmentDelivery({
      fs,
      topic,
      writer,
      position,
      unapplied,
      segmentBytes,
      sealAfterMs,
      flushEveryMs,
      enginePath: enginePath.of,
      onApplied(segment) {
        admission.applied(segment.sizeBytes, segment.projects)
        if (segment.archive === null)
          retention.add({ path: segment.file, first: segment.first, sizeBytes: segment.sizeBytes })
      },
      onCommit() {
        counters.commits++
        lastActiveMs = Date.now()
      },
    })
    const removable = (): number => Math.min(position.offset(), remembered.get(topic) ?? -1)
    const retention = createRetention({
      fs,
      folder,
      retentionMs,
      hiddenAfterMs,
      segmentBytes,
      applied,
      archives,
      removable,
      isBusy,
      logger,
    })
    const close = async (): Promise<void> => {
      await writer.close()
      await delivery.close()
      await retention.stop()
      await enginePath.close()
    }
    opened.set(topic, { id, writer, delivery, retention, ends: createProjectEnds(writer.end()), lost, close })
  }

  /** Opens a topic once more, at an earlier position: nothing was appended or delivered yet. */
  async function goBack(topic: string, offset: number): Promise<void> {
    const { delivery, close } = of(topic)
    admission.leave(delivery.unappliedBytes(), new Map())
    await close()
    await openTopic(topic, offset)
  }

  async function closeAll(): Promise<void> {
    // The lock is released last, and also when closing something failed.
    const failures: unknown[] = []
    const steps = [...[...opened.values()].reverse().map(({ close }) => close), async () => own?.release()]
    for (const step of steps) await step().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  try {
    await waitForEarlierBuild(dir, (line) => logger?.warn({}, line))
    for (const topic of Object.keys(topics)) await openTopic(topic)
  } catch (error) {
    await closeAll()
    throw error
  }

  function of(topic: string) {
    const found = opened.get(topic)
    if (found === undefined) throw new Error(`Unknown topic ${topic}`)
    return found
  }

  const lostRecords = (): string | undefined =>
    [...opened]
      .flatMap(([topic, { lost }]) =>
        lost === null ? [] : [`records ${lost.from} to ${lost.to} of ${topic} were synced, and are gone`],
      )
      .join('; ') || undefined

  function health(): LogHealth {
    let status: LogHealth['status'] = closing === null ? 'ok' : 'down'
    const reasons: string[] = closing === null ? [] : ['The log is closed']
    for (const [topic, { writer }] of opened) {
      const state = writer.state()
      if (state.status === 'down' || (state.status === 'degraded' && status === 'ok')) status = state.status
      if (state.status !== 'ok') reasons.push(`${topic}: ${state.reason}`)
    }
    const refusing = admission.reason()
    if (refusing !== null) reasons.push(refusing)
    const lost = lostRecords()
    const impaired = refusing ?? lost
    if (impaired !== undefined && status === 'ok') status = 'degraded'
    const waiting = [...opened.values()].flatMap(({ delivery }) => delivery.oldestMs() ?? [])
    const oldestMs = Math.min(...waiting)
    const lagMs = Number.isFinite(oldestMs) ? Math.max(0, Date.now() - oldestMs) : 0
    const fields = { status, unappliedBytes: admission.unappliedBytes(), lagMs, ...(lost !== undefined && { lost }) }
    return reasons.length === 0 ? fields : { ...fields, reason: reasons.join('; ') }
  }

  return {
    topics: Object.keys(topics),
    async append(topic, records) {
      const { writer, ends } = of(topic)
      const position = await writer.append(records)
      ends.note(position.offset, records)
      return position
    },
    refusal: (projects) => admission.refusal(sumOf(projects), projects),
    endOf(topic, projects) {
      const { writer, ends } = of(topic)
      return [
        { topic, partition: 0, offset: topicIn(topics, topic).isReadByProject ? ends.of(projects) : writer.end() },
      ]
    },
    end: async (topic) => [{ topic, partition: 0, offset: of(topic).writer.end() }],
    consume: (topic, signal) => of(topic).delivery.consume(signal),
    async commit({ topic, partition, offset }) {
      if (partition !== 0) throw new Error(`The embedded log has no partition ${partition}`)
      await of(topic).delivery.commit(offset)
    },
    committed: async (topic) => [{ topic, partition: 0, offset: of(topic).delivery.committed() }],
    identity: () =>
      Promise.all(
        [...opened].map(async ([topic, { id, writer }]) => {
          const { files } = await listSegments(fs, join(dir, topic))
          const end = writer.end()
          return { topic, id: id.value(), kept: [{ partition: 0, first: files[0]?.first ?? end + 1, end }] }
        }),
      ),
    async renew() {
      for (const { id } of opened.values()) await id.renew()
    },
    async beginAfter(applied) {
      for (const { topic, offset } of await applied())
        if (offset < of(topic).delivery.committed()) await goBack(topic, offset)
    },
    remembered(positions) {
      for (const { topic, offset } of positions) remembered.set(topic, offset)
    },
    takeMore: () => [],
    flush: (topic) => of(topic).delivery.flush(),
    owns: () => true,
    partitions: () => 1,
    limits: { recordBytes: Number.POSITIVE_INFINITY },
    lastClock: () => lastClock,
    health,
    lag() {
      const now = Date.now()
      return [...opened].map(([topic, { writer, delivery }]) => ({
        topic,
        partition: 0,
        records: writer.end() - delivery.committed(),
        bytes: delivery.unappliedBytes(),
        ageMs: Math.max(0, now - (delivery.oldestMs() ?? now)),
        isOwn: true,
      }))
    },
    counters: () => ({ ...counters }),
    rewrite: (topic, change) => of(topic).retention.rewrite(change),
    async tidy() {
      for (const { retention } of opened.values()) await retention.tidy()
    },
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}
