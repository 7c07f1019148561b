// The access path by the keys of calls: by id, by trace, by parent.

import { indexOf } from '../scope.ts'
import type { AccessPathOf } from './access-path.ts'

export const byKeys: AccessPathOf = ({ reader, range }) => {
  const { projectId, query } = reader
  const index = indexOf(query.facts)
  return {
    name: 'keys',
    // A trace or a parent has any number of calls.
    estimate: async () => (index === null ? null : (query.facts.ids?.length ?? Number.POSITIVE_INFINITY)),
    async *candidates() {
      yield { scope: { projectId, range, index, keys: null }, calls: Number.POSITIVE_INFINITY }
    },
  }
}
