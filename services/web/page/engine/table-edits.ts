// Unsaved changes of a table: rows changed in place, removed, and added after the others.
import { type Member, objectText } from './json-texts.ts'
import { type ColumnChange, membersWithColumns } from './table-columns.ts'

export type Cells = readonly Member[]

export type Edits = {
  /** Changed rows by their place in the stored table. */
  changed: ReadonlyMap<number, Cells>
  removed: ReadonlySet<number>
  added: readonly Cells[]
  /** Changes of columns in all stored rows; cells above have them already. */
  columns: readonly ColumnChange[]
}

export const noEdits: Edits = { changed: new Map(), removed: new Set(), added: [], columns: [] }

export const editCount = ({ changed, removed, added, columns }: Edits): number =>
  [...changed.keys()].filter((index) => !removed.has(index)).length + removed.size + added.length + columns.length

export const withAdded = (edits: Edits, rows: readonly Cells[]): Edits => ({
  ...edits,
  added: [...edits.added, ...rows],
})

/** Changes of columns reach rows that somebody has changed or added before, too. */
export const withColumnChanges = (edits: Edits, changes: readonly ColumnChange[]): Edits => ({
  ...edits,
  changed: new Map([...edits.changed].map(([index, cells]) => [index, membersWithColumns(changes, cells)])),
  added: edits.added.map((cells) => membersWithColumns(changes, cells)),
  columns: [...edits.columns, ...changes],
})

/** A row behind the `stored` ones was added before. */
export function withChanged(edits: Edits, stored: number, index: number, cells: Cells): Edits {
  if (index >= stored) return { ...edits, added: edits.added.with(index - stored, cells) }
  return { ...edits, changed: new Map(edits.changed).set(index, cells) }
}

/** Rows in the place of those from `from` on, and behind them where there are no more. */
export function withRows(edits: Edits, stored: number, from: number, rows: readonly Cells[]): Edits {
  const total = stored + edits.added.length
  const over = rows.slice(0, Math.max(0, total - from))
  const changed = over.reduce((now, cells, n) => withChanged(now, stored, from + n, cells), edits)
  return withAdded(changed, rows.slice(over.length))
}

/** Takes a row out, or puts a stored one back that was taken out. */
export function withToggled(edits: Edits, stored: number, index: number): Edits {
  if (index >= stored) return { ...edits, added: edits.added.toSpliced(index - stored, 1) }
  const removed = new Set(edits.removed)
  if (!removed.delete(index)) removed.add(index)
  return { ...edits, removed }
}

/** Edits with those before and those that were taken back. */
export type History = { past: readonly Edits[]; now: Edits; future: readonly Edits[] }

const maxPast = 200

export const begun = (now: Edits): History => ({ past: [], now, future: [] })
export const done = ({ past, now }: History, next: Edits): History => ({
  past: [...past, now].slice(-maxPast),
  now: next,
  future: [],
})
export function undone(history: History): History {
  const before = history.past.at(-1)
  if (before === undefined) return history
  return { past: history.past.slice(0, -1), now: before, future: [history.now, ...history.future] }
}
export function redone(history: History): History {
  const [next, ...future] = history.future
  if (next === undefined) return history
  return { past: [...history.past, history.now], now: next, future }
}

/**
 * Updates in the form of `/table/update`, each as JSON: from the last row to the first, so that places stay the same.
 */
export function updatesOf({ changed, removed, added }: Edits): string[] {
  const places = [...new Set([...changed.keys(), ...removed])].sort((a, b) => b - a)
  const updates = places.flatMap((index) => {
    const cells = removed.has(index) ? undefined : changed.get(index)
    const pop = `{"pop":{"index":${index}}}`
    return cells === undefined ? [pop] : [pop, `{"insert":{"index":${index},"row":${objectText(cells)}}}`]
  })
  return [...updates, ...added.map((cells) => `{"append":{"row":${objectText(cells)}}}`)]
}

/** Updates in requests of at most so many, and of at most so many characters where one alone is not longer. */
export function batchesOf(updates: readonly string[], maxUpdates: number, maxLength: number): string[][] {
  const batches: string[][] = []
  let length = 0
  for (const update of updates) {
    const batch = batches.at(-1)
    if (batch === undefined || batch.length >= maxUpdates || length + update.length > maxLength) {
      batches.push([update])
      length = update.length
    } else {
      batch.push(update)
      length += update.length
    }
  }
  return batches
}

export const keptText = ({ changed, removed, added, columns }: Edits): string =>
  JSON.stringify({ changed: [...changed], removed: [...removed], added, columns })

/** Reads a text of `keptText`; nothing where it is something else. */
export function editsOf(text: string | null): Edits {
  if (text === null) return noEdits
  try {
    const { changed, removed, added, columns } = JSON.parse(text) as {
      changed: [number, Cells][]
      removed: number[]
      added: Cells[]
      columns: ColumnChange[]
    }
    return { changed: new Map(changed), removed: new Set(removed), added: [...added], columns: [...columns] }
  } catch {
    return noEdits
  }
}

/** Names of the columns in the order in which rows bring them. */
export function columnNames(rows: Iterable<readonly { name: string }[]>): string[] {
  const names = new Set<string>()
  for (const row of rows) for (const { name } of row) names.add(name)
  return [...names]
}
