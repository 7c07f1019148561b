// Unsaved changes of a table, with undo; the tab keeps it while pages come and go.
import { useState } from 'react'
import type { ColumnChange } from '../engine/table-columns.ts'
import {
  begun,
  type Cells,
  done,
  editCount,
  editsOf,
  type History,
  keptText,
  noEdits,
  redone,
  undone,
  withAdded,
  withChanged,
  withColumnChanges,
  withRows,
  withToggled,
} from '../engine/table-edits.ts'

const place = (projectId: string, objectId: string, digest: string) =>
  `callhouse.dataset ${projectId} ${objectId} ${digest}`

export function useEdits(projectId: string, objectId: string, digest: string, stored: number) {
  const key = place(projectId, objectId, digest)
  const read = () => ({ key, history: begun(editsOf(sessionStorage.getItem(key))) })
  const [state, setState] = useState(read)
  // The changes of another version begin anew, before any of them shows.
  const current = state.key === key ? state.history : read().history
  const set = (history: History) => {
    setState({ key, history })
    try {
      if (editCount(history.now) === 0) sessionStorage.removeItem(key)
      else sessionStorage.setItem(key, keptText(history.now))
    } catch {
      // Too long, or closed: then it lasts as long as the page.
    }
  }
  const edits = current.now
  return {
    edits,
    count: editCount(edits),
    canUndo: current.past.length > 0,
    canRedo: current.future.length > 0,
    /** Cells of a row that is not as it is stored. */
    cellsAt: (index: number): Cells | undefined =>
      index >= stored ? edits.added[index - stored] : edits.changed.get(index),
    isRemoved: (index: number): boolean => edits.removed.has(index),
    add: (rows: readonly Cells[]) => set(done(current, withAdded(edits, rows))),
    changeColumns: (changes: readonly ColumnChange[]) => set(done(current, withColumnChanges(edits, changes))),
    change: (index: number, cells: Cells) => set(done(current, withChanged(edits, stored, index, cells))),
    paste: (from: number, rows: readonly Cells[]) => set(done(current, withRows(edits, stored, from, rows))),
    toggle: (index: number) => set(done(current, withToggled(edits, stored, index))),
    undo: () => set(undone(current)),
    redo: () => set(redone(current)),
    /** Nothing is changed any more; what was can be had back by undo. */
    discard: () => set(done(current, noEdits)),
    forget: () => set(begun(noEdits)),
  }
}
export type TableEdits = ReturnType<typeof useEdits>
