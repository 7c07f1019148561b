// The access path of counts over what stands behind refs: windows of time, so that not too many refs are resolved at once.
import type { AccessPathOf } from './access-path.ts'
import { withFieldTimes } from './field-index.ts'
import { firstWindow, largestWindowOfRefs, readsRefs } from './time-windows.ts'
import { createWindows } from './windows.ts'

export const refWindows: AccessPathOf = ({ reader, range }) => ({
  name: 'windows of refs',
  estimate: async () => (readsRefs(reader) ? Number.POSITIVE_INFINITY : null),
  async *candidates() {
    const { projectId } = reader
    const windows = await createWindows(reader, {
      range,
      direction: 'desc',
      counter: 'calls',
      size: firstWindow,
      offset: 0,
      isCounted: false,
    })
    const next = () => windows.next(largestWindowOfRefs)
    for (let window = await next(); window !== null; window = await next()) {
      const scope = { projectId, range: window.range, index: null, keys: null }
      yield { scope: await withFieldTimes(reader, scope), calls: window.calls }
    }
  },
})
