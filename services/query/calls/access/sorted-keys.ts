// Other orders than that of time: the keys of the whole answer first, over the one scope that another path leads to.

import { decodeKeys } from '../decode-keys.ts'
import { keysQuery } from '../page.ts'
import type { AccessPathOf } from './access-path.ts'

export const sortedKeys =
  (pathOf: AccessPathOf): AccessPathOf =>
  (search) => {
    const { reader, refine, limit, offset, rows } = search
    const path = pathOf(search)
    return {
      name: `sorted keys of ${path.name}`,
      estimate: path.estimate,
      async *candidates(progress) {
        for await (const candidates of path.candidates(progress)) {
          const refined = 'scope' in candidates ? await refine(candidates.scope) : null
          if (refined === null) continue
          const query = keysQuery(refined.scope, refined.conditions, reader.query.sort, { limit, offset })
          const all = decodeKeys(await reader.store.bytes(query, 'RowBinary', reader.options))
          for (let keys = all.next(rows); keys.length > 0; keys = all.next(rows)) yield { keys }
        }
      },
    }
  }
