// Runs the commands `rebuild` and `replay` where the engines are.

import type { Log } from '../../core/log/log.ts'
import { parsePositions } from '../../core/log/positions.ts'
import type { CommandTable } from '../../core/process/services.ts'
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

export const rebuildCommands = (rebuilds: Rebuilds, log: Pick<Log, 'partitions' | 'topics'>): CommandTable => ({
  'rebuild.start': ([table = '', rate]) => rebuilds.rebuild(table, rateOf(rate)),
  'rebuild.status': () => rebuilds.status(),
  'rebuild.list': async () => ({ tables: rebuildableTables, unfinished: await rebuilds.unfinished() }),
  'rebuild.abandon': () => rebuilds.abandon(),
  'rebuild.replay': ([positions = '', rate]) => rebuilds.replay(positionsOf(positions, log), rateOf(rate)),
})

const rebuildElsewhere = () => {
  throw new Error(
    'with Kafka and a ClickHouse server rebuild and replay run in the process of the command, not in this one',
  )
}

/** The same commands in a process that leaves this work to that of the command. */
export const rebuildCommandsElsewhere: CommandTable = {
  'rebuild.start': rebuildElsewhere,
  'rebuild.status': rebuildElsewhere,
  'rebuild.list': rebuildElsewhere,
  'rebuild.abandon': rebuildElsewhere,
  'rebuild.replay': rebuildElsewhere,
}
