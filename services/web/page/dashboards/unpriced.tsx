// The models whose prices the costs of a dashboard lack.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { plural } from '../engine/format.ts'
import { useProject } from '../parts/project.ts'
import { T } from '../parts/text.tsx'

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
      Costs exclude {plural(names.length, 'model')} without a price
      {models === undefined && ', used in the last 30 days'}: <T text={names.slice(0, 3).join(', ')} max={200} />
      {names.length > 3 && ' and others'}. Add prices under Settings, Prices.
    </p>
  )
}
