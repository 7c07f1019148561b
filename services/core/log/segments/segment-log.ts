// The log of one machine: a folder of segment files per topic, durable by group fdatasync. Puts the driver together.
import { dirname, join, resolve } from 'node:path'
import { guardedFs, type LogFs, nodeFs } from '../../files/disk.ts'
import { type FolderLock, takeLock } from '../../process/folder-lock.ts'
import type { Lag, Log, LogHealth } from '../log.ts'
import { type Topics, topicIn } from '../topic.ts'
import { type Admission, createAdmission } from './admission.ts'
import { waitForEarlierBuild } from './earlier-lock.ts'
import { type OpenTopic, openTopic, type TopicDeps } from './open-topic.ts'
import { listSegments } from './segment.ts'
import { sumOf } from './unapplied.ts'
import type { LogCounters, LogLogger } from './writer.ts'

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

type LogState = {
  dir: string
  fs: LogFs
  admission: Admission
  opened: Map<string, OpenTopic>
  /** Positions that the tables are known to hold; nothing is removed before they are reported. */
  remembered: Map<string, number>
  lastClock: bigint
  lastActiveMs: number
  closing: Promise<void> | null
  /** The folder's lock, where it is this log's own. */
  ownLock: FolderLock | undefined
}

const mib = 2 ** 20
const busyMs = 1000

/** Opens or creates a log. Throws when another process holds it, or when records that were acknowledged are damaged. */
export async function createEmbeddedLog(options: EmbeddedLogOptions): Promise<EmbeddedLog> {
  const { topics, logger, segmentBytes = 16 * mib, sealAfterMs = 60, flushEveryMs = 50 } = options
  const { maxUnappliedBytes, minFreeBytes, retentionMs, hiddenAfterMs, mayEndEarly, readersWaitMs } = options
  const dir = resolve(options.dir)
  const disk = options.fs ?? nodeFs
  if (await disk.mkdir(dir)) await disk.syncDir(dirname(dir))
  const ownLock = options.lock === undefined ? await takeLock(dir) : undefined
  const { check } = options.lock ?? (ownLock as FolderLock)
  const fs = guardedFs(disk, check)
  const admission = createAdmission({ fs, dir, maxUnappliedBytes, minFreeBytes, readersWaitMs })
  const counters = noCounts()
  const log: LogState = {
    dir,
    fs,
    admission,
    opened: new Map(),
    remembered: new Map(),
    lastClock: 0n,
    lastActiveMs: 0,
    closing: null,
    ownLock,
  }
  const deps: TopicDeps = {
    fs,
    dir,
    topics,
    admission,
    counters,
    logger,
    segmentBytes,
    sealAfterMs,
    flushEveryMs,
    retentionMs,
    hiddenAfterMs,
    mayEndEarly,
    remembered: (topic) => log.remembered.get(topic) ?? -1,
    onActive() {
      log.lastActiveMs = Date.now()
    },
    isBusy: () => isBusy(log),
  }
  try {
    await waitForEarlierBuild(dir, (line) => logger?.warn({}, line))
    for (const topic of Object.keys(topics)) await addTopic(log, deps, topic)
  } catch (error) {
    await closeAll(log)
    throw error
  }
  return { ...portOf(log, topics), ...beginningsOf(log, deps), counters: () => ({ ...counters }) }
}

const noCounts = (): LogCounters => ({
  appends: 0,
  records: 0,
  bytes: 0,
  groups: 0,
  syncs: 0,
  dirSyncs: 0,
  segments: 0,
  failedGroups: 0,
  commits: 0,
})

function topicOf({ opened }: LogState, topic: string): OpenTopic {
  const open = opened.get(topic)
  if (open === undefined) throw new Error(`Unknown topic ${topic}`)
  return open
}

/** The port, without what decides where a topic begins and how long it is kept. */
function portOf(log: LogState, topics: Topics) {
  const { opened, admission } = log
  return {
    topics: Object.keys(topics),
    async append(topic, records) {
      const { writer, ends } = topicOf(log, topic)
      const position = await writer.append(records)
      ends.note(position.offset, records)
      return position
    },
    refusal: (projects) => admission.refusal(sumOf(projects), projects),
    endOf(topic, projects) {
      const { writer, ends } = topicOf(log, topic)
      return [
        { topic, partition: 0, offset: topicIn(topics, topic).isReadByProject ? ends.of(projects) : writer.end() },
      ]
    },
    end: async (topic) => [{ topic, partition: 0, offset: topicOf(log, topic).writer.end() }],
    consume: (topic, signal) => topicOf(log, topic).delivery.consume(signal),
    async commit({ topic, partition, offset }) {
      if (partition !== 0) throw new Error(`The embedded log has no partition ${partition}`)
      await topicOf(log, topic).delivery.commit(offset)
    },
    committed: async (topic) => [{ topic, partition: 0, offset: topicOf(log, topic).delivery.committed() }],
    takeMore: () => [],
    flush: (topic) => topicOf(log, topic).delivery.flush(),
    owns: () => true,
    partitions: () => 1,
    limits: { recordBytes: Number.POSITIVE_INFINITY },
    lastClock: () => log.lastClock,
    health: () => healthOf(log),
    lag: () => [...opened].map(([topic, open]) => lagOf(topic, open, Date.now())),
    close() {
      log.closing ??= closeAll(log)
      return log.closing
    },
  } satisfies Partial<Log>
}

function beginningsOf(log: LogState, deps: TopicDeps) {
  const { opened } = log
  return {
    identity: () => Promise.all([...opened].map(([topic, open]) => identityOf(log, topic, open))),
    async renew() {
      for (const { id } of opened.values()) await id.renew()
    },
    async beginAfter(applied) {
      for (const { topic, offset } of await applied())
        if (offset < topicOf(log, topic).delivery.committed()) await goBack(log, deps, topic, offset)
    },
    remembered(positions) {
      for (const { topic, offset } of positions) log.remembered.set(topic, offset)
    },
    rewrite: (topic, change) => topicOf(log, topic).retention.rewrite(change),
    async tidy() {
      for (const { retention } of opened.values()) await retention.tidy()
    },
  } satisfies Partial<EmbeddedLog>
}

const isBusy = ({ lastActiveMs, opened }: LogState): boolean =>
  Date.now() - lastActiveMs < busyMs ||
  [...opened.values()].some(({ writer, delivery }) => writer.isWriting() || delivery.isApplying())

async function addTopic(log: LogState, deps: TopicDeps, topic: string, beginAfter?: number): Promise<void> {
  const open = await openTopic(deps, topic, beginAfter)
  if (open.highClock > log.lastClock) log.lastClock = open.highClock
  log.opened.set(topic, open)
}

/** Opens a topic once more, at an earlier position: nothing was appended or delivered yet. */
async function goBack(log: LogState, deps: TopicDeps, topic: string, offset: number): Promise<void> {
  const { delivery, close } = topicOf(log, topic)
  log.admission.leave(delivery.unappliedBytes(), new Map())
  await close()
  await addTopic(log, deps, topic, offset)
}

/** The lock is released last, and also when closing something failed. */
async function closeAll({ opened, ownLock }: LogState): Promise<void> {
  const failures: unknown[] = []
  const steps = [...[...opened.values()].reverse().map(({ close }) => close), async () => ownLock?.release()]
  for (const step of steps) await step().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

async function identityOf({ fs, dir }: LogState, topic: string, { id, writer }: OpenTopic) {
  const { files } = await listSegments(fs, join(dir, topic))
  const end = writer.end()
  return { topic, id: id.value(), kept: [{ partition: 0, first: files[0]?.first ?? end + 1, end }] }
}

const lagOf = (topic: string, { writer, delivery }: OpenTopic, now: number): Lag => ({
  topic,
  partition: 0,
  records: writer.end() - delivery.committed(),
  bytes: delivery.unappliedBytes(),
  ageMs: Math.max(0, now - (delivery.oldestMs() ?? now)),
  isOwn: true,
})

const lostRecords = ({ opened }: LogState): string | undefined =>
  [...opened]
    .flatMap(([topic, { lost }]) =>
      lost === null ? [] : [`records ${lost.from} to ${lost.to} of ${topic} were synced, and are gone`],
    )
    .join('; ') || undefined

function healthOf(log: LogState): LogHealth {
  const { opened, admission, closing } = log
  let status: LogHealth['status'] = closing === null ? 'ok' : 'down'
  const reasons: string[] = closing === null ? [] : ['The log is closed']
  for (const [topic, { writer }] of opened) {
    const state = writer.state()
    if (state.status === 'down' || (state.status === 'degraded' && status === 'ok')) status = state.status
    if (state.status !== 'ok') reasons.push(`${topic}: ${state.reason}`)
  }
  const refusing = admission.reason()
  if (refusing !== null) reasons.push(refusing)
  const lost = lostRecords(log)
  const impaired = refusing ?? lost
  if (impaired !== undefined && status === 'ok') status = 'degraded'
  const waiting = [...opened.values()].flatMap(({ delivery }) => delivery.oldestMs() ?? [])
  const oldestMs = Math.min(...waiting)
  const lagMs = Number.isFinite(oldestMs) ? Math.max(0, Date.now() - oldestMs) : 0
  const fields = { status, unappliedBytes: admission.unappliedBytes(), lagMs, ...(lost !== undefined && { lost }) }
  return reasons.length === 0 ? fields : { ...fields, reason: reasons.join('; ') }
}
