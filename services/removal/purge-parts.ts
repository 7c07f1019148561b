// Finds parts of calls that retention hides, while it is known when these start: ends and names have no start of their own.
import { type Finder, find, type Named, sqlOf } from './engine.ts'
import type { LeftOut } from './held-calls.ts'

/** Calls whose parts one statement looks for; an hour is never split. */
const callsAtOnce = 100_000
const hourUs = 3_600_000_000

/** Ranges of whole hours of a month with so many calls at most, where hours have no more. */
async function rangesOf(finder: Finder, params: Named): Promise<{ from: number; end: number; calls: number }[]> {
  const hours = await find<{ us: number; n: number }>(finder, 'purge.hours', params)
  const ranges: { from: number; end: number; calls: number }[] = []
  for (const { us, n } of hours) {
    const [from, calls, last] = [Number(us), Number(n), ranges.at(-1)]
    if (last && last.calls + calls <= callsAtOnce)
      Object.assign(last, { end: from + hourUs, calls: last.calls + calls })
    else ranges.push({ from, end: from + hourUs, calls })
  }
  return ranges
}

/** Conditions on parts, with what they name: before the calls of the month go, by which their parts are found. */
export async function* hiddenParts(
  finder: Finder,
  month: string,
  projects: readonly string[],
  before: number,
  { params, heldCall }: LeftOut,
): AsyncGenerator<{ where: string; named: Named }> {
  const of = { month, projects, before, ...params }
  const started = sqlOf('purge.hidden-calls')
  const where = sqlOf('purge.of-hidden', { started, heldCall })
  for (const { from, end } of await rangesOf(finder, of)) yield { where, named: { ...of, from, end } }
}
