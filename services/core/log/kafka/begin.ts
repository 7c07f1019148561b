// Finds the first record of partitions that come to this process: after the group's committed position, or earlier if
// the tables lack it.

import type { Position } from '../log.ts'
import type { LogLogger } from '../segments/writer.ts'
import type { PartitionBuffer } from './buffers.ts'

export type Beginnings = {
  /** Makes each partition wait for the positions of `applied`. */
  ask(applied: () => Promise<Position[]>): void
  /** Partitions that came just now. */
  add(buffers: readonly PartitionBuffer[]): void
  /** Another worker has it now. */
  remove(buffer: PartitionBuffer): void
  /** Nothing of it is to be fetched yet. */
  isWaiting(buffer: PartitionBuffer): boolean
  problem(): string | null
  stop(): void
}

const firstWaitMs = 100
const maxWaitMs = 5_000

export function createBeginnings(deps: {
  /** Applied positions as the group knows them. */
  committed(topic: Position['topic']): Promise<Position[]>
  /** Makes an earlier position that of the group, and fetches from there. */
  goBack(position: Position): Promise<void>
  onReady(buffer: PartitionBuffer): void
  logger: LogLogger | undefined
}): Beginnings {
  const waiting = new Set<PartitionBuffer>()
  let applied: (() => Promise<Position[]>) | undefined
  let isRunning = false
  let isStopped = false
  let problem: string | null = null

  async function begin(buffer: PartitionBuffer, held: readonly Position[]): Promise<void> {
    const isMine = (one: Position) => one.topic === buffer.topic && one.partition === buffer.partition
    const committed = (await deps.committed(buffer.topic)).find(isMine)
    const position = held.find(isMine)
    if (committed && position && position.offset < committed.offset && waiting.has(buffer)) {
      deps.logger?.info(
        { ...position, committed: committed.offset },
        'tables may lack what was committed: applied again',
      )
      await deps.goBack(position)
    }
    if (waiting.delete(buffer)) deps.onReady(buffer)
  }

  async function run(): Promise<void> {
    isRunning = true
    for (let waitMs = firstWaitMs; waiting.size > 0 && !isStopped; ) {
      try {
        const held = (await applied?.()) ?? []
        for (const buffer of [...waiting]) await begin(buffer, held)
        problem = null
        waitMs = firstWaitMs
      } catch (error) {
        problem = `It is not known what the tables hold: ${error instanceof Error ? error.message : String(error)}`
        deps.logger?.warn({ err: error, waitMs }, 'partitions are not begun yet, trying again')
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        waitMs = Math.min(waitMs * 2, maxWaitMs)
      }
    }
    isRunning = false
  }

  return {
    ask(of) {
      applied = of
    },
    add(buffers) {
      if (applied === undefined) return
      for (const buffer of buffers) waiting.add(buffer)
      if (!isRunning) void run()
    },
    remove: (buffer) => void waiting.delete(buffer),
    isWaiting: (buffer) => waiting.has(buffer),
    problem: () => problem,
    stop() {
      isStopped = true
    },
  }
}
