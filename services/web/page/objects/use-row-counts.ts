// Numbers of rows of the datasets of a list, from the tables that their values name.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { rowsIn } from '../datasets/search.ts'
import type { Shapes } from '../routes.gen.ts'

type Asked = Shapes['objects.query']['in']
type Version = Pick<Shapes['objects.query']['out']['objs'][number], 'object_id' | 'digest'>

/** A version by its name and digest: versions of two names may have one digest. */
const keyOf = ({ object_id, digest }: Version): string => `${object_id} ${digest}`

/**
 * @param asked the question of the list, asked again with the values: undefined where it lists no datasets
 * @returns the number of rows: undefined while it is read, null where the rows are elsewhere
 */
export function useRowCounts(asked: Asked | undefined): (version: Version) => number | null | undefined {
  const { data } = useQuery({
    queryKey: ['datasets.rows', asked],
    async queryFn({ signal }) {
      const { project_id, ...list } = asked as Asked
      const { objs } = await json('objects.query', { project_id, ...list, metadata_only: false }, { signal })
      const found = objs.map((version) => [keyOf(version), rowsIn(project_id, version.val)] as const)
      const digests = [...new Set(found.flatMap(([, rows]) => (rows && 'table' in rows ? [rows.table] : [])))]
      const { tables } = await json('tables.query_stats_batch', { project_id, digests }, { signal })
      const counts = new Map(tables.map(({ digest, count }) => [digest, count]))
      return new Map(
        found.map(([key, rows]) => [
          key,
          rows === undefined ? null : 'count' in rows ? rows.count : (counts.get(rows.table) ?? null),
        ]),
      )
    },
    enabled: asked !== undefined,
  })
  return (version) => data?.get(keyOf(version))
}
