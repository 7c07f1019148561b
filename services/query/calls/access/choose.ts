// Chooses the access path of a search: the first that leads to its calls.
import type { AccessPath, AccessPathOf, CallSearch } from './access-path.ts'
import { byKeys } from './by-keys.ts'
import { fieldIndex, fieldIndexTimes } from './field-index.ts'
import { fieldOrder } from './field-order.ts'
import { noCalls } from './no-calls.ts'
import { preFilteredIds } from './pre-filtered-ids.ts'
import { refWindows } from './ref-windows.ts'
import { sortedKeys } from './sorted-keys.ts'
import { timeWindows } from './time-windows.ts'
import { wholeRange } from './whole-range.ts'

const anySearch = [noCalls, byKeys, preFilteredIds]

/** Access paths by what becomes of the calls. Those that lead to fewer calls come first; the last one always leads there. */
const accessPaths = {
  /** Pages in the order of start times. */
  byTime: [...anySearch, fieldIndex, timeWindows],
  /** Pages in another order. */
  sorted: [
    noCalls,
    sortedKeys(byKeys),
    sortedKeys(preFilteredIds),
    sortedKeys(fieldIndexTimes),
    fieldOrder,
    sortedKeys(wholeRange),
  ],
  /** A number of calls, which may be added up. */
  counted: [...anySearch, refWindows, fieldIndexTimes, wholeRange],
  /** One statement over all calls. */
  whole: [...anySearch, fieldIndexTimes, wholeRange],
} satisfies Record<string, readonly AccessPathOf[]>

export async function chooseAccessPath(search: CallSearch, use: keyof typeof accessPaths): Promise<AccessPath> {
  for (const pathOf of accessPaths[use]) {
    const path = pathOf(search)
    if ((await path.estimate()) !== null) return path
  }
  throw new Error('no access path leads to the calls')
}
