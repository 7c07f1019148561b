// What the commands `rebuild` and `replay` do where the engines are, and how their progress is shown.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlHandler } from './core/control-socket.ts'
import type { Log } from './core/log/log.ts'
import { parsePositions } from './core/positions.ts'
import { topics } from './core/topics.ts'
import type { RebuildStatus, Rebuilds } from './worker/rebuild.ts'

/** A list of positions (`calls=12,objects.2=3`), or one number for every partition of every topic. */
function positionsOf(text: string, log: Pick<Log, 'partitions'>) {
  if (/^\d{1,15}$/.test(text))
    return Object.values(topics).flatMap(({ name: topic }) =>
      Array.from({ length: log.partitions(topic) }, (_, partition) => ({ topic, partition, offset: Number(text) })),
    )
  const positions = parsePositions(text)
  const other = positions.find(({ topic, partition }) => partition >= log.partitions(topic))
  if (other) throw new Error(`the log has no partition ${other.partition} of ${other.topic}`)
  return positions
}

function rateOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const rate = Number(text)
  if (!(Number.isFinite(rate) && rate > 0)) throw new Error(`Invalid rows per second: ${JSON.stringify(text)}`)
  return rate
}

export const rebuildCommands =
  (rebuilds: Rebuilds | undefined, log: Pick<Log, 'partitions'>): ControlHandler =>
  async ({ command, args: [what = '', rate] }) => {
    if (!rebuilds)
      throw new Error(
        'with Kafka and a ClickHouse server rebuild and replay run in the process of the command, not in this one',
      )
    if (command === 'rebuild.start') return rebuilds.rebuild(what, rateOf(rate))
    if (command === 'rebuild.status') return rebuilds.status()
    if (command === 'rebuild.list') return { tables: await rebuilds.tables(), unfinished: await rebuilds.unfinished() }
    if (command === 'rebuild.abandon') return rebuilds.abandon()
    if (command === 'replay.start') return rebuilds.replay(positionsOf(what, log), rateOf(rate))
    throw new Error(`Unknown command ${command}`)
  }

const lineOf = ({ task, phase, part, rows, rowsPerSecond, at }: RebuildStatus): string =>
  `${task}: ${phase}, ${Math.floor(part * 100)} %, ${rows} rows, ${rowsPerSecond} rows/s${at ? `, at ${at}` : ''}`

/** Short tasks are over soon, long ones need no line every moment. */
const firstMs = 50
const mostMs = 2_000

/**
 * Begins a task and tells its progress until it ends.
 * @throws Error when it was refused or failed
 */
export async function follow(
  ask: (command: string, args: string[]) => Promise<unknown>,
  command: 'rebuild.start' | 'replay.start',
  args: string[],
  print: (line: string) => void,
): Promise<void> {
  let status = (await ask(command, args)) as RebuildStatus
  if (status.isResumed) print(`${status.task}: goes on from ${status.rows} rows, begun at ${status.startedAt}`)
  let told = 0
  let last = ''
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 2, mostMs)) {
    for (; told < status.notes.length; told++) print(`${status.task}: ${status.notes[told]}`)
    const line = lineOf(status)
    if (line !== last) print(line)
    last = line
    if (status.phase !== 'working' && status.phase !== 'exchanging') break
    await sleep(waitMs)
    status = (await ask('rebuild.status', [])) as RebuildStatus
  }
  if (status.phase !== 'done') throw new Error(`${status.task}: ${status.phase}: ${status.reason}`)
}
