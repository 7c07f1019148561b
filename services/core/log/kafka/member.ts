// The membership of a worker in its group: joins, again after failures, is told its partitions, and writes positions.
import type { Consumer } from 'kafkajs'
import type { Position } from '../log.ts'
import type { Fetched, PartitionBuffer } from './buffers.ts'
import type { KafkaClient, KafkaLogOptions } from './client.ts'

type MemberOptions = {
  client: KafkaClient
  settings: KafkaLogOptions
  /** This member came to the group, or came again. */
  onAssigned(partitions: Pick<Position, 'topic' | 'partition'>[]): void
  onFetched(topic: string, partition: number, endOffset: number, messages: Fetched[]): void
  /** Another worker took the name of this one, which reads nothing any more. */
  onFenced(): void
}

export type GroupMember = MemberOptions & {
  /** Null between two connections. */
  consumer: Consumer | null
  /** The first start, or the last one after a failure. */
  starting: Promise<void> | null
  isJoined: boolean
  /** Another worker took the name of this one. */
  fenced: Error | null
  problem: string | null
  /** Positions that the group coordinator confirmed, by name and partition. */
  confirmed: Map<string, number>
  writing: { positions: Position[]; done: Promise<void> } | null
  isClosed: boolean
}

/** kafkajs wraps what the broker said, sometimes several times. */
const isFenced = (error: unknown): boolean =>
  error instanceof Error && ((error as { type?: unknown }).type === 'FENCED_INSTANCE_ID' || isFenced(error.cause))

const mib = 2 ** 20
/** Longest wait of a fetch for new records; also how long it takes until a resumed partition is fetched. */
const maxWaitTimeInMs = 100

export const groupMember = (options: MemberOptions): GroupMember => ({
  ...options,
  consumer: null,
  starting: null,
  isJoined: false,
  fenced: null,
  problem: null,
  confirmed: new Map(),
  writing: null,
  isClosed: false,
})

/** Joins the group unless it has, and goes on trying until it can. @throws Error when another worker has the name */
export function joinGroup(member: GroupMember): void {
  if (member.fenced !== null) throw member.fenced
  member.starting ??= restart(member)
}

async function restart(member: GroupMember): Promise<void> {
  for (let waitMs = 200; !member.isClosed && member.fenced === null; waitMs = Math.min(waitMs * 2, 5_000)) {
    try {
      await start(member)
      return
    } catch (error) {
      member.problem = `The consumer of the log does not start: ${error instanceof Error ? error.message : String(error)}`
      member.settings.logger?.warn({ err: error }, 'the consumer of Kafka does not start')
      const failed = member.consumer
      member.consumer = null
      await failed?.disconnect().catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}

async function start(member: GroupMember): Promise<void> {
  const { client, settings } = member
  const { sessionTimeoutMs = 30_000, compression } = settings
  const created = client.kafka.consumer({
    groupId: settings.group,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: Math.max(10_000, sessionTimeoutMs),
    heartbeatInterval: Math.min(3_000, Math.round(sessionTimeoutMs / 4)),
    // compressed bytes grow when they come in
    maxBytesPerPartition: compression === 'gzip' ? mib : 4 * mib,
    maxBytes: 16 * mib,
    minBytes: 1,
    maxWaitTimeInMs,
    allowAutoTopicCreation: false,
    readUncommitted: true,
    retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 2_000, restartOnFailure: async () => !member.isClosed },
  })
  watchMembership(member, created)
  member.consumer = created
  await created.connect()
  await created.subscribe({ topics: client.topics.map(client.named), fromBeginning: true })
  await created.run({
    autoCommit: false,
    partitionsConsumedConcurrently: 16,
    async eachBatch({ batch: { topic: name, partition, highWatermark, messages } }) {
      const topic = client.topicOf(name)
      if (topic !== undefined) member.onFetched(topic, partition, Number(highWatermark), messages)
    },
  })
}

function watchMembership(member: GroupMember, created: Consumer): void {
  const { client, settings, confirmed } = member
  created.on(created.events.GROUP_JOIN, ({ payload }) => {
    if (member.consumer !== created) return
    member.problem = null
    member.isJoined = true
    const assigned = Object.entries(payload.memberAssignment).flatMap(([name, partitions]) => {
      const topic = client.topicOf(name)
      return topic === undefined ? [] : partitions.map((partition) => ({ topic, partition }))
    })
    member.onAssigned(assigned)
  })
  created.on(created.events.COMMIT_OFFSETS, ({ payload }) => {
    for (const { topic, partitions } of payload.topics)
      for (const { partition, offset } of partitions) confirmed.set(`${topic}/${partition}`, Number(String(offset)))
  })
  created.on(created.events.CRASH, ({ payload }) => {
    member.isJoined = false
    member.problem = `The consumer of the log failed: ${payload.error.message}`
    settings.logger?.warn({ err: payload.error, restart: payload.restart }, 'the consumer of Kafka failed')
    if (isFenced(payload.error)) return void fence(member)
    if (payload.restart || member.isClosed || member.consumer !== created) return
    member.consumer = null
    member.starting = restart(member)
  })
}

/** Two workers of one name would take the partitions from each other for ever: the older one ends. */
function fence(member: GroupMember): void {
  const { instanceId } = member.settings
  member.fenced = new Error(
    `Another worker started with the name ${instanceId}: CALLHOUSE_WORKER_ID has to be different for each`,
  )
  member.problem = member.fenced.message
  member.consumer = null
  member.onFenced()
}

const namesOf = ({ client }: GroupMember, { topic, partition }: PartitionBuffer) => [
  { topic: client.named(topic), partitions: [partition] },
]

export const pauseFetching = (member: GroupMember, buffer: PartitionBuffer): void =>
  member.consumer?.pause(namesOf(member, buffer))

export const resumeFetching = (member: GroupMember, buffer: PartitionBuffer): void =>
  member.consumer?.resume(namesOf(member, buffer))

/** Fetches from a position on. */
export const fetchFrom = ({ consumer, client }: GroupMember, { topic, partition, offset }: Position): void =>
  consumer?.seek({ topic: client.named(topic), partition, offset: String(offset) })

/** Makes a position that of the group. Positions that are written at the same moment share a request. */
export function writePosition(member: GroupMember, position: Position): Promise<void> {
  if (member.writing === null) {
    const positions: Position[] = []
    member.writing = { positions, done: Promise.resolve().then(() => writePositions(member, positions)) }
  }
  member.writing.positions.push(position)
  return member.writing.done
}

async function writePositions(member: GroupMember, positions: Position[]): Promise<void> {
  const { client, confirmed, consumer } = member
  member.writing = null
  if (consumer === null) throw new Error('there is no consumer')
  const named = positions.map((one) => ({ ...one, topic: client.named(one.topic) }))
  for (const { topic, partition } of named) confirmed.delete(`${topic}/${partition}`)
  await consumer.commitOffsets(named.map((one) => ({ ...one, offset: String(one.offset) })))
  // Between two memberships kafkajs returns without having written anything.
  if (!named.every(({ topic, partition }) => confirmed.has(`${topic}/${partition}`)))
    throw new Error('the consumer is joining the group')
}

export async function leaveGroup(member: GroupMember): Promise<void> {
  member.isClosed = true
  await member.starting?.catch(() => undefined)
  await member.consumer?.disconnect().catch(() => undefined)
}
