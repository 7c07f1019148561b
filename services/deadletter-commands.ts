// What the commands `deadletters list`, `show` and `replay` do inside the server.
import type { ControlHandler } from './core/control-socket.ts'
import type { Log } from './core/log/log.ts'
import { topics } from './core/topics.ts'
import type { DeadLetter, DeadLetters } from './worker/deadletters.ts'

/** Appends the row of a dead letter to its topic again, as a record of its own. */
async function replay(letter: DeadLetter, log: Pick<Log, 'append'>): Promise<void> {
  const row = JSON.parse(letter.row) as { kind?: string; clock?: number; project_id?: string; id?: string }
  const clock = /"clock":(\d+)/.exec(letter.row)?.[1] ?? '0'
  await log.append(letter.topic, [
    {
      rows: Buffer.from(`${letter.row}\n`),
      rowCount: 1,
      patchCount: letter.topic === topics.calls.name && row.kind !== 'complete' ? 1 : 0,
      clock: BigInt(clock),
      key: `${row.project_id ?? ''} ${row.id ?? ''}`,
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
      const chosen = id === 'all' ? deadLetters.list().filter((one) => !one.replayedAt) : [await find(id)]
      for (const { id: one } of chosen) {
        await replay(await find(one), log)
        await deadLetters.markReplayed(one)
      }
      return { replayed: chosen.length }
    }
    throw new Error(`Unknown command ${command} ${args.join(' ')}`)
  }
}
