// Runs the commands `rebuild` and `replay` where the engines are.

import type { Log } from '../../core/log/log.ts'
import { parsePositions } from '../../core/log/positions.ts'
import type { ControlHandler } from '../../core/process/control-socket.ts'
import { rebuildableTables } from '../../operations/rebuild/kinds.ts'
import type { Rebuilds } from '../../operations/rebuild/rebuild.ts'

/** A list of positions (`calls=12,objects.2=3`), or one number for every partition of every topic. */
function positionsOf(text: string, log: Pick<Log, 'partitions' | 'topics'>) {
  if (/^\d{1,15}$/.test(text))
    return log.topics.flatMap((topic) =>
      Array.from({ length: log.partitions(topic) }, (_, partition) => ({ topic, partition, offset: Number(text) })),
    )
  const positions = parsePositions(text, log.topics)
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
  (rebuilds: Rebuilds | undefined, log: Pick<Log, 'partitions' | 'topics'>): ControlHandler =>
  async ({ command, args: [what = '', rate] }) => {
    if (!rebuilds)
      throw new Error(
        'with Kafka and a ClickHouse server rebuild and replay run in the process of the command, not in this one',
      )
    if (command === 'rebuild.start') return rebuilds.rebuild(what, rateOf(rate))
    if (command === 'rebuild.status') return rebuilds.status()
    if (command === 'rebuild.list') return { tables: rebuildableTables, unfinished: await rebuilds.unfinished() }
    if (command === 'rebuild.abandon') return rebuilds.abandon()
    if (command === 'rebuild.replay') return rebuilds.replay(positionsOf(what, log), rateOf(rate))
    throw new Error(`Unknown command ${command}`)
  }
