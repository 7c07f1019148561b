// What the commands `deadletters list`, `show` and `replay` do inside the server.

import type { Log } from '../../core/log/log.ts'
import type { ControlHandler } from '../../core/process/control-socket.ts'
import { topics } from '../../events/registry.ts'
import type { DeadLetter, DeadLetters } from '../../worker/dead-letters/dead-letters.ts'

/** What the record header needs of a row; a row that is not JSON at all has neither a kind nor a key. */
function headerOf(row: string): { kind?: string; project_id?: string; id?: string } {
  try {
    return JSON.parse(row) as ReturnType<typeof headerOf>
  } catch {
    return {}
  }
}

/** Appends the row of a dead letter to its topic again, as a record of its own. */
async function replay(letter: DeadLetter, log: Pick<Log, 'append'>): Promise<void> {
  const { kind, project_id = '', id = '' } = headerOf(letter.row)
  await log.append(letter.topic, [
    {
      rows: Buffer.from(`${letter.row}\n`),
      rowCount: 1,
      patchCount: letter.topic === topics.calls.name && kind !== 'complete' ? 1 : 0,
      // the row's own clock is in the log since the row came first; a refused row must not set the clock of new ones
      clock: 0n,
      key: `${project_id} ${id}`,
    },
  ])
}

export function deadLetterCommands(deps: { deadLetters: DeadLetters; log: Pick<Log, 'append'> }): ControlHandler {
  const { deadLetters, log } = deps
  const find = async (id: string): Promise<DeadLetter> => {
    const letter = await deadLetters.show(id)
    if (!letter) throw new Error(`There is no dead letter ${id}`)
    return letter
  }
  return async ({ command, args }) => {
    const [id] = args
    if (command === 'deadletters.list') return deadLetters.list()
    if (command === 'deadletters.show' && id) return find(id)
    if (command === 'deadletters.replay' && id) {
      const chosen = id === 'all' ? (await deadLetters.list()).filter((one) => !one.replayedAt) : [await find(id)]
      for (const { id: one } of chosen) {
        await replay(await find(one), log)
        await deadLetters.markReplayed(one)
      }
      return { replayed: chosen.length }
    }
    throw new Error(`Unknown command ${command} ${args.join(' ')}`)
  }
}
