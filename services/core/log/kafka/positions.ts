// Ends of the topics and applied positions, asked of the brokers as seldom as possible: callers share each look-up.
import { unavailable } from '../../errors.ts'
import type { KeptRange } from '../log.ts'
import type { KafkaClient } from './client.ts'
import { createRawConnection, type RawCluster } from './internals.ts'
import { decodeHeaders } from './message.ts'

/** Number per partition, by topic. */
export type Offsets = Map<string, number[]>

export type KafkaPositions = {
  /** Looks at both for the first time, with more patience. */
  open(): Promise<void>
  /** Ends of the topics, and maybe of others, at this moment: the look-up begins after the call. */
  ends(topics?: readonly string[]): Promise<Offsets>
  /** Committed positions of the group at this moment, of the topics and maybe of others. */
  committed(topics?: readonly string[]): Promise<Offsets>
  /** The records that each topic holds at this moment. */
  kept(): Promise<(topic: string) => KeptRange[]>
  /** Greatest accept timestamp that the last records of all partitions tell. */
  lastClock(): Promise<bigint>
  /** The reason why the last look-up failed, null when it did not. */
  problem(): string | null
  close(): Promise<void>
}

const boundMs = 2_000
const brokenMs = 300
const openMs = 30_000

/** Callers that come while a look-up waits to begin share it; each begins at least `everyMs` after the last. */
function shared<T>(
  load: (topics: readonly string[]) => Promise<T>,
  everyMs: number,
  all: readonly string[],
): (topics?: readonly string[]) => Promise<T> {
  let asked = new Set<string>()
  let waiting: Promise<T> | null = null
  let running: Promise<unknown> = Promise.resolve()
  let beganAt = Number.NEGATIVE_INFINITY
  async function begin(): Promise<T> {
    await running
    const restMs = beganAt + everyMs - performance.now()
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
    waiting = null
    beganAt = performance.now()
    const result = load([...asked])
    asked = new Set()
    running = result.catch(() => undefined)
    return result
  }
  return (topics = all) => {
    for (const topic of topics) asked.add(topic)
    waiting ??= begin()
    return waiting
  }
}

export function createKafkaPositions(options: {
  client: KafkaClient
  group: string
  partitions: ReadonlyMap<string, number>
  onEnds(ends: Offsets): void
  /** @param sinceMs when the look-up began, by the process's own clock */
  onCommitted(offsets: Offsets, sinceMs: number): void
}): KafkaPositions {
  const { client, group } = options
  const { named, topicOf } = client
  let coordinator: ReturnType<RawCluster['findGroupCoordinator']> | null = null
  let problem: string | null = null
  let closed = false

  const wanted = new Map(
    client.topics.map((topic) => [
      topic,
      {
        topic: named(topic),
        partitions: Array.from({ length: options.partitions.get(topic) as number }, (_, partition) => ({ partition })),
      },
    ]),
  )
  const wantedOf = (topics: readonly string[]) =>
    topics.map((topic) => wanted.get(topic) as { topic: string; partitions: { partition: number }[] })

  const connection = createRawConnection(client.kafka, client.config, (cluster) =>
    cluster.addMultipleTargetTopics(client.topics.map(named)),
  )

  /** Closes the connections; the next look-up opens new ones, with new metadata. */
  async function drop(): Promise<void> {
    coordinator = null
    await connection.drop()
  }

  /** Runs a look-up until it succeeds: leaders move, and a new topic takes a moment. 503 when it did not in time. */
  async function ask<T>(step: (cluster: RawCluster) => Promise<T>, limitMs = boundMs): Promise<T> {
    // Where the last look-up failed, the next one does not keep its callers for long.
    const giveUpAt = performance.now() + (problem === null ? limitMs : Math.min(limitMs, brokenMs))
    for (let waitMs = 20; ; waitMs *= 2) {
      if (closed) throw unavailable('The log is closed')
      const restMs = giveUpAt - performance.now()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), Math.max(1, restMs))
      })
      try {
        const result = await Promise.race([connection.cluster().then(step), late])
        problem = null
        return result
      } catch (error) {
        problem = `Positions of the log cannot be read: ${error instanceof Error ? error.message : String(error)}`
        void drop()
        if (performance.now() + waitMs >= giveUpAt) throw unavailable(problem)
      } finally {
        clearTimeout(timer)
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }

  function collect(
    topics: readonly string[],
    responses: { topic: string; partitions: { partition: number; offset: string }[] }[],
  ): Offsets {
    const offsets: Offsets = new Map()
    for (const topic of topics) offsets.set(topic, new Array(options.partitions.get(topic) as number).fill(0))
    for (const { topic, partitions } of responses) {
      const found = offsets.get(topicOf(topic) as string) as number[]
      // -1 = the group has no position yet
      for (const { partition, offset } of partitions) found[partition] = Math.max(0, Number(offset))
    }
    return offsets
  }

  const loadEnds = (topics: readonly string[], limitMs?: number): Promise<Offsets> =>
    ask(async (cluster) => {
      await cluster.refreshMetadataIfNecessary()
      const asked = wantedOf(topics).map((one) => ({ ...one, fromBeginning: false }))
      const ends = collect(topics, await cluster.fetchTopicsOffset(asked))
      options.onEnds(ends)
      return ends
    }, limitMs)

  const loadCommitted = (topics: readonly string[], limitMs?: number): Promise<Offsets> =>
    ask(async (cluster) => {
      const sinceMs = performance.now()
      coordinator ??= cluster.findGroupCoordinator({ groupId: group })
      const { responses } = await (await coordinator).offsetFetch({ groupId: group, topics: wantedOf(topics) })
      const offsets = collect(topics, responses)
      options.onCommitted(offsets, sinceMs)
      return offsets
    }, limitMs)

  const ends = shared((topics) => loadEnds(topics), 5, client.topics)

  return {
    async open() {
      // The positions first: else everything that was ever appended counts as unapplied for a moment.
      await loadCommitted(client.topics, openMs)
      await loadEnds(client.topics, openMs)
    },
    ends,
    kept: () =>
      ask(async (cluster) => {
        await cluster.refreshMetadataIfNecessary()
        const bounds = async (fromBeginning: boolean) =>
          collect(
            client.topics,
            await cluster.fetchTopicsOffset(wantedOf(client.topics).map((one) => ({ ...one, fromBeginning }))),
          )
        const [firsts, ends] = [await bounds(true), await bounds(false)]
        return (topic) =>
          (ends.get(topic) as number[]).map((end, partition) => ({
            partition,
            end,
            first: (firsts.get(topic)?.[partition] ?? 0) + 1,
          }))
      }, openMs),
    committed: shared((topics) => loadCommitted(topics), 10, client.topics),
    async lastClock() {
      const last = await ends()
      return ask(async (cluster) => {
        let clock = 0n
        for (const topic of client.topics)
          for (const [nodeId, partitions] of Object.entries(
            cluster.findLeaderForPartitions(
              named(topic),
              (last.get(topic) as number[]).flatMap((end, partition) => (end > 0 ? [partition] : [])),
            ),
          )) {
            const broker = await cluster.findBroker({ nodeId })
            for (const partition of partitions) {
              const fetchOffset = String(((last.get(topic) as number[])[partition] as number) - 1)
              const { responses } = await broker.fetch({
                maxWaitTime: 100,
                minBytes: 1,
                maxBytes: 1,
                isolationLevel: 0,
                topics: [{ topic: named(topic), partitions: [{ partition, fetchOffset, maxBytes: 1 }] }],
              })
              for (const message of responses.flatMap((one) => one.partitions).flatMap((one) => one.messages)) {
                const { highClock } = decodeHeaders(message.headers)
                if (highClock > clock) clock = highClock
              }
            }
          }
        return clock
      }, openMs)
    },
    problem: () => problem,
    async close() {
      closed = true
      await drop()
    },
  }
}
