// The models whose prices the costs of a dashboard lack.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { costsExclude } from '../engine/unpriced.ts'
import { useProject } from '../parts/project.ts'

/** @property models of the calls that are counted; undefined where whole traces are: they do not tell theirs */
type UnpricedProps = { models: readonly string[] | undefined }

export function Unpriced({ models }: UnpricedProps) {
  const { entity, project, projectId } = useProject()
  const { data } = useQuery({
    queryKey: ['costs.unpriced_models', projectId],
    queryFn: ({ signal }) => json('costs.unpriced_models', undefined, { params: { entity, project }, signal }),
    enabled: models === undefined,
    meta: { isAside: true },
    retry: false,
    staleTime: 60_000,
  })
  const names = models ?? data?.models.map(({ model }) => model) ?? []
  if (names.length === 0) return null
  return (
    <p className="second" title={names.slice(0, 50).join('\n')}>
      {costsExclude(names, models === undefined ? ', used in the last 30 days' : '')}
    </p>
  )
}
