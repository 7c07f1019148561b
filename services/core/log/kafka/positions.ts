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

type PositionsOptions = {
  client: KafkaClient
  group: string
  partitions: ReadonlyMap<string, number>
  onEnds(ends: Offsets): void
  /** @param sinceMs when the look-up began, by the process's own clock */
  onCommitted(offsets: Offsets, sinceMs: number): void
}

type PositionsState = PositionsOptions & {
  connection: ReturnType<typeof createRawConnection>
  coordinator: ReturnType<RawCluster['findGroupCoordinator']> | null
  problem: string | null
  isClosed: boolean
}

export function createKafkaPositions(options: PositionsOptions): KafkaPositions {
  const { client } = options
  const state: PositionsState = {
    ...options,
    connection: createRawConnection(client.kafka, client.config, (cluster) =>
      cluster.addMultipleTargetTopics(client.topics.map(client.named)),
    ),
    coordinator: null,
    problem: null,
    isClosed: false,
  }
  const ends = shared((topics) => loadEnds(state, topics), 5, client.topics)
  return {
    async open() {
      // The positions first: else everything that was ever appended counts as unapplied for a moment.
      await loadCommitted(state, client.topics, openMs)
      await loadEnds(state, client.topics, openMs)
    },
    ends,
    kept: () => loadKept(state),
    committed: shared((topics) => loadCommitted(state, topics), 10, client.topics),
    lastClock: async () => loadLastClock(state, await ends()),
    problem: () => state.problem,
    async close() {
      state.isClosed = true
      await drop(state)
    },
  }
}

/** Closes the connections; the next look-up opens new ones, with new metadata. */
async function drop(state: PositionsState): Promise<void> {
  state.coordinator = null
  await state.connection.drop()
}

/** Runs a look-up until it succeeds: leaders move, and a new topic takes a moment. 503 when it did not in time. */
async function ask<T>(state: PositionsState, step: (cluster: RawCluster) => Promise<T>, limitMs = boundMs): Promise<T> {
  // Where the last look-up failed, the next one does not keep its callers for long.
  const giveUpAt = performance.now() + (state.problem === null ? limitMs : Math.min(limitMs, brokenMs))
  for (let waitMs = 20; ; waitMs *= 2) {
    if (state.isClosed) throw unavailable('The log is closed')
    const restMs = giveUpAt - performance.now()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), Math.max(1, restMs))
    })
    try {
      const result = await Promise.race([state.connection.cluster().then(step), late])
      state.problem = null
      return result
    } catch (error) {
      state.problem = `Positions of the log cannot be read: ${error instanceof Error ? error.message : String(error)}`
      void drop(state)
      if (performance.now() + waitMs >= giveUpAt) throw unavailable(state.problem)
    } finally {
      clearTimeout(timer)
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

/** The topics and all of their partitions, as the brokers are asked for them. */
const wantedOf = ({ client, partitions }: PositionsState, topics: readonly string[]) =>
  topics.map((topic) => ({
    topic: client.named(topic),
    partitions: Array.from({ length: partitions.get(topic) as number }, (_, partition) => ({ partition })),
  }))

function collect(
  { client, partitions: numbers }: PositionsState,
  topics: readonly string[],
  responses: { topic: string; partitions: { partition: number; offset: string }[] }[],
): Offsets {
  const offsets: Offsets = new Map()
  for (const topic of topics) offsets.set(topic, new Array(numbers.get(topic) as number).fill(0))
  for (const { topic, partitions } of responses) {
    const known = offsets.get(client.topicOf(topic) as string) as number[]
    // -1 = the group has no position yet
    for (const { partition, offset } of partitions) known[partition] = Math.max(0, Number(offset))
  }
  return offsets
}

const loadEnds = (state: PositionsState, topics: readonly string[], limitMs?: number): Promise<Offsets> =>
  ask(
    state,
    async (cluster) => {
      await cluster.refreshMetadataIfNecessary()
      const ends = await boundsOf(state, cluster, topics, false)
      state.onEnds(ends)
      return ends
    },
    limitMs,
  )

/** First records of the topics, or their ends. */
async function boundsOf(
  state: PositionsState,
  cluster: RawCluster,
  topics: readonly string[],
  fromBeginning: boolean,
): Promise<Offsets> {
  const wanted = wantedOf(state, topics).map((one) => ({ ...one, fromBeginning }))
  return collect(state, topics, await cluster.fetchTopicsOffset(wanted))
}

const loadCommitted = (state: PositionsState, topics: readonly string[], limitMs?: number): Promise<Offsets> =>
  ask(
    state,
    async (cluster) => {
      const { group: groupId } = state
      const sinceMs = performance.now()
      state.coordinator ??= cluster.findGroupCoordinator({ groupId })
      const { responses } = await (await state.coordinator).offsetFetch({ groupId, topics: wantedOf(state, topics) })
      const offsets = collect(state, topics, responses)
      state.onCommitted(offsets, sinceMs)
      return offsets
    },
    limitMs,
  )

const loadKept = (state: PositionsState): Promise<(topic: string) => KeptRange[]> =>
  ask(
    state,
    async (cluster) => {
      const { topics } = state.client
      await cluster.refreshMetadataIfNecessary()
      const firsts = await boundsOf(state, cluster, topics, true)
      const ends = await boundsOf(state, cluster, topics, false)
      return (topic) =>
        (ends.get(topic) as number[]).map((end, partition) => ({
          partition,
          end,
          first: (firsts.get(topic)?.[partition] ?? 0) + 1,
        }))
    },
    openMs,
  )

/** @param ends of the topics: the record before each is read */
const loadLastClock = (state: PositionsState, ends: Offsets): Promise<bigint> =>
  ask(
    state,
    async (cluster) => {
      const { topics, named } = state.client
      let clock = 0n
      for (const topic of topics) {
        const topicEnds = ends.get(topic) as number[]
        const filled = topicEnds.flatMap((end, partition) => (end > 0 ? [partition] : []))
        const leaders = cluster.findLeaderForPartitions(named(topic), filled)
        for (const [nodeId, partitions] of Object.entries(leaders))
          for (const partition of partitions) {
            const last = await clockOf(cluster, nodeId, named(topic), partition, topicEnds[partition] as number)
            if (last > clock) clock = last
          }
      }
      return clock
    },
    openMs,
  )

/** The accept timestamp that the last record of a partition tells. */
async function clockOf(cluster: RawCluster, nodeId: string, name: string, partition: number, end: number) {
  const broker = await cluster.findBroker({ nodeId })
  const { responses } = await broker.fetch({
    maxWaitTime: 100,
    minBytes: 1,
    maxBytes: 1,
    isolationLevel: 0,
    topics: [{ topic: name, partitions: [{ partition, fetchOffset: String(end - 1), maxBytes: 1 }] }],
  })
  let clock = 0n
  for (const message of responses.flatMap((one) => one.partitions).flatMap((one) => one.messages)) {
    const { highClock } = decodeHeaders(message.headers)
    if (highClock > clock) clock = highClock
  }
  return clock
}
