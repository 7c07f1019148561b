// Tables that the embedded engine fills through buffers in memory (docs/adr/0027): a part costs the same however few its
// rows. Statements name the tables; here it is decided what goes through a buffer and what has to be written out first.

/** Each has a table `<name>_buffer` of engine Buffer (clickhouse/migrations/*.embedded.sql). */
const buffered = ['calls_by_id', 'calls_by_trace', 'calls_by_parent', 'turns', 'call_marks'] as const
type Buffered = (typeof buffered)[number]

/**
 * Statements with calls that may fill buffers between two flushes. Each writes at most 16 months (insert.ts), and a flush, which
 * knows no settings, is refused above 100.
 */
const callsAtOnce = 5

/**
 * A statement that needs no merged versions may take what is in the buffer from there: marks, and the batch's own look
 * at the ids. While it runs the buffer is not written out, or it could find rows neither here nor there; other reads
 * may take long, so for them the buffer is written out first.
 */
const throughMarks = /\b(FROM|JOIN) callhouse\.(call_marks)\b(?!(?: AS [\w`]+)? FINAL\b)/g
const throughIds = /\b(FROM|JOIN) callhouse\.(call_marks|calls_by_id)\b(?!(?: AS [\w`]+)? FINAL\b)/g
const isOfBatch = /\bcallhouse\.calls_(?:batch|touched)\b/
const fillsBuffers = /\bINSERT INTO callhouse\.(?:calls|calls_in|call_marks)\b/
const writesCalls = /\bINSERT INTO callhouse\.(?:calls|calls_in)\b/
const target = /\bINSERT INTO callhouse\.(\w+)/g
const isDefinition = /^\s*(?:CREATE|ALTER|DROP|RENAME|EXCHANGE)\b/
const named = new RegExp(`\\bcallhouse\\.(${buffered.join('|')})(_buffer)?\\b`, 'g')

type Plan = {
  /** The statement as it is to be run. */
  own: string
  /** Buffers that it reads, and tables whose buffers have to be written out before. */
  through: Set<Buffered>
  after: Set<Buffered>
  fills: boolean
  isOfCalls: boolean
}
type Run<T> = (own: string) => Promise<T>

function planOf(sql: string): Plan {
  const own = isDefinition.test(sql)
    ? sql
    : sql
        .replace(isOfBatch.test(sql) ? throughIds : throughMarks, '$1 callhouse.$2_buffer')
        .replace(/\bINSERT INTO callhouse\.call_marks\b/, 'INSERT INTO callhouse.call_marks_buffer')
  const through = new Set<Buffered>()
  const after = new Set<Buffered>()
  for (const [, table, isBuffer] of own.replace(target, '').matchAll(named))
    (isBuffer && !isDefinition.test(sql) ? through : after).add(table as Buffered)
  return { own, through, after, fills: fillsBuffers.test(sql), isOfCalls: writesCalls.test(sql) }
}

export type Buffers = {
  /** Runs a statement when everything that it reads is there. @throws StoreError also when a buffer is not written out */
  run<T>(sql: string, run: Run<T>): Promise<T>
  /** Resolves when every row that was written before is in a part, synced. */
  settle(): Promise<void>
}

type State = {
  /** Number of the last statement whose rows are in parts. */
  flushed: number
  /** Statements with calls since then, or a few more. */
  calls: number
  readers: number
  /** The flush at hand or the last one. */
  flushing: { upTo: number; done: Promise<void> }
  isFlushing: boolean
  drained: () => void
}

/** @param flush writes a buffer out */
export function createBuffers(flush: (table: string) => Promise<unknown>): Buffers {
  let written = 0
  const states = Object.fromEntries(
    buffered.map((table) => [
      table,
      {
        flushed: 0,
        calls: 0,
        readers: 0,
        flushing: { upTo: 0, done: Promise.resolve() },
        isFlushing: false,
        drained() {},
      },
    ]),
  ) as Record<Buffered, State>

  const writeOut = (table: Buffered): Promise<void> => {
    const state = states[table]
    if (state.flushed >= written) return Promise.resolve()
    if (state.flushing.upTo >= written) return state.flushing.done
    const before = state.flushing.done
    const mine = { upTo: written, done: before }
    mine.done = (async () => {
      await before.catch(() => undefined)
      state.isFlushing = true
      try {
        if (state.readers > 0)
          await new Promise<void>((resolve) => {
            state.drained = resolve
          })
        const { calls } = state
        await flush(`${table}_buffer`)
        state.flushed = mine.upTo
        state.calls -= calls
      } catch (error) {
        // the next one tries again
        if (state.flushing === mine) state.flushing = { upTo: state.flushed, done: Promise.resolve() }
        throw error
      } finally {
        state.isFlushing = false
      }
    })()
    state.flushing = mine
    return mine.done
  }
  const settle = async (): Promise<void> => {
    await Promise.all(buffered.map(writeOut))
  }
  const enter = async (table: Buffered): Promise<void> => {
    const state = states[table]
    while (state.isFlushing) await state.flushing.done.catch(() => undefined)
    state.readers++
  }
  const leave = (table: Buffered): void => {
    const state = states[table]
    if (--state.readers === 0) state.drained()
  }

  const guarded = async <T>({ own, through, after, fills, isOfCalls }: Plan, run: Run<T>): Promise<T> => {
    if (isOfCalls) {
      if (buffered.some((table) => states[table].calls >= callsAtOnce)) await settle()
      for (const table of buffered) states[table].calls++
    }
    await Promise.all(Array.from(after, writeOut))
    const entered: Buffered[] = []
    try {
      for (const table of through) {
        await enter(table)
        entered.push(table)
      }
      return await run(own)
    } finally {
      for (const table of entered) leave(table)
      // also after a failure: some of its views may have run
      if (fills) written++
    }
  }

  return {
    settle,
    run(sql, run) {
      const plan = planOf(sql)
      const isFree = !plan.fills && plan.through.size === 0 && plan.after.size === 0
      return isFree ? run(plan.own) : guarded(plan, run)
    },
  }
}
