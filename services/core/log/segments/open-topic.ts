// One topic of the log of one machine, put together: its id, its writer, its delivery and its retention.
import { join } from 'node:path'
import type { LogFs } from '../../files/disk.ts'
import { createProjectEnds, type ProjectEnds } from '../project-ends.ts'
import { type Topics, topicIn } from '../topic.ts'
import type { Admission } from './admission.ts'
import { createSegmentDelivery, type SegmentDelivery } from './delivery.ts'
import { createEnginePath } from './engine-path.ts'
import { type Recovered, recoverTopic } from './recovery.ts'
import { createRetention, type Retention } from './retention.ts'
import { openTopicId, type TopicId } from './topic-id.ts'
import { createWriter, type LogCounters, type LogLogger, type SegmentWriter } from './writer.ts'

export type OpenTopic = {
  id: TopicId
  writer: SegmentWriter
  delivery: SegmentDelivery
  retention: Retention
  ends: ProjectEnds
  lost: Recovered['lost']
  /** Greatest clock of its records when it was opened. */
  highClock: bigint
  close(): Promise<void>
}

/** Parts that the topics of a log share. */
export type TopicDeps = {
  fs: LogFs
  /** Folder of the log. */
  dir: string
  topics: Topics
  admission: Admission
  counters: LogCounters
  logger: LogLogger | undefined
  segmentBytes: number
  sealAfterMs: number
  flushEveryMs: number
  retentionMs: number
  hiddenAfterMs: (() => number) | undefined
  mayEndEarly: boolean | undefined
  /** The position up to which the tables are known to hold a topic; -1 = nothing is known. */
  remembered(topic: string): number
  /** Something was written or applied. */
  onActive(): void
  isBusy(): boolean
}

/** @param beginAfter the position to begin at, where it is an earlier one than the stored one */
export async function openTopic(deps: TopicDeps, topic: string, beginAfter?: number): Promise<OpenTopic> {
  const { fs, dir, topics, admission, counters, logger, segmentBytes, mayEndEarly } = deps
  const folder = join(dir, topic)
  if (await fs.mkdir(folder)) await fs.syncDir(dir)
  const id = await openTopicId(fs, folder)
  const recovered = await recoverTopic(fs, folder, logger, { beginAfter, mayEndEarly })
  const enginePath = await createEnginePath(folder)
  const { position, archives, applied, unapplied, lost, lastOffset, highClock } = recovered
  for (const segment of unapplied) admission.restore(segment.sizeBytes)
  const writer = createWriter({
    fs,
    folder,
    topic,
    version: topicIn(topics, topic).version,
    segmentBytes,
    lastOffset,
    highClock,
    admission,
    counters,
    logger,
    onGroup() {
      deps.onActive()
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
    sealAfterMs: deps.sealAfterMs,
    flushEveryMs: deps.flushEveryMs,
    enginePath: enginePath.of,
    onApplied(segment) {
      admission.applied(segment.sizeBytes, segment.projects)
      if (segment.archive === null)
        retention.add({ path: segment.file, first: segment.first, sizeBytes: segment.sizeBytes })
    },
    onCommit() {
      counters.commits++
      deps.onActive()
    },
  })
  const retention = createRetention({
    fs,
    folder,
    retentionMs: deps.retentionMs,
    hiddenAfterMs: deps.hiddenAfterMs,
    segmentBytes,
    applied,
    archives,
    removable: () => Math.min(position.offset(), deps.remembered(topic)),
    isBusy: deps.isBusy,
    logger,
  })
  async function close(): Promise<void> {
    await writer.close()
    await delivery.close()
    await retention.stop()
    await enginePath.close()
  }
  return { id, writer, delivery, retention, ends: createProjectEnds(writer.end()), lost, highClock, close }
}
