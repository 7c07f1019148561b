// The access path that always leads to the calls: all of the times that a query allows, in one statement.
import type { AccessPathOf } from './access-path.ts'

export const wholeRange: AccessPathOf = ({ reader, range }) => ({
  name: 'whole range',
  estimate: async () => Number.POSITIVE_INFINITY,
  async *candidates() {
    yield { scope: { projectId: reader.projectId, range, index: null, keys: null }, calls: Number.POSITIVE_INFINITY }
  },
})
