// Runs the commands `deadletters list`, `show` and `replay` inside the server.

import type { Log } from '../../core/log/log.ts'
import type { CommandTable } from '../../core/process/services.ts'
import { topics } from '../../events/registry.ts'
import type { DeadLetter, DeadLetters } from '../../worker/dead-letters/dead-letters.ts'

/** The parts of a row for its record header; a row that is not JSON at all has neither a kind nor a key. */
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

type ReplayDeps = { deadLetters: DeadLetters; log: Pick<Log, 'append'> }

/** Sends the rows of dead letters again, one after the other. Missing ones are skipped. */
async function replayEach({ deadLetters, log }: ReplayDeps, ids: readonly string[]): Promise<number> {
  let replayed = 0
  for (const id of ids) {
    const letter = await deadLetters.show(id)
    if (letter === undefined) continue
    await replay(letter, log)
    await deadLetters.markReplayed(id)
    replayed++
  }
  return replayed
}

/** Ids of those that were not sent again yet. */
const unsent = async ({ deadLetters }: ReplayDeps): Promise<string[]> =>
  (await deadLetters.list()).filter((one) => !one.replayedAt).map(({ id }) => id)

/** Rows that one request sends again: a request is answered in seconds. */
const maxReplayed = 1_000

/** @param id of a dead letter, or `all` for those that were not sent again yet */
export async function replayDeadLetters(
  deps: ReplayDeps,
  id: string,
): Promise<{ replayed: number; remaining: number }> {
  const ids = id === 'all' ? await unsent(deps) : [id]
  const replayed = await replayEach(deps, ids.slice(0, maxReplayed))
  return { replayed, remaining: Math.max(0, ids.length - maxReplayed) }
}

export function deadLetterCommands(deps: ReplayDeps): CommandTable {
  const { deadLetters } = deps
  const find = async (id = ''): Promise<DeadLetter> => {
    const letter = await deadLetters.show(id)
    if (!letter) throw new Error(`Dead letter ${id} not found`)
    return letter
  }
  return {
    'deadletters.list': () => deadLetters.list(),
    'deadletters.show': ([id]) => find(id),
    async 'deadletters.replay'([id]) {
      const ids = id === 'all' ? await unsent(deps) : [(await find(id)).id]
      return { replayed: await replayEach(deps, ids) }
    },
  }
}
