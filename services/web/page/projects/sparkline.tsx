// Calls of a project by hour, and how many of them failed, as small bars; the figures beside it say the same in numbers.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'

const hourMs = 3_600_000
const hours = 24

export function Sparkline({ projectId }: { projectId: string }) {
  // Until the end of this hour, so that pages of one hour ask the same.
  const end = Math.ceil(Date.now() / hourMs) * hourMs
  const { data } = useQuery({
    queryKey: ['sparkline', projectId, end],
    queryFn: ({ signal }) =>
      json(
        'calls.aggregate',
        {
          project_id: projectId,
          start: (end - hours * hourMs) / 1_000,
          end: end / 1_000,
          bucket: hourMs / 1_000,
          metrics: ['calls', 'errors'].map((field) => ({ field, as: 'sum' })),
        },
        { signal, fresh: 'any' },
      ),
    staleTime: 60_000,
  })
  const { series = {} } = data?.groups[0] ?? {}
  const calls = series['calls.sum'] ?? []
  const most = Math.max(1, ...calls.map((one) => one ?? 0))
  const barOf = (value: number | null | undefined, at: number, className: string) =>
    value ? (
      <rect
        key={`${className} ${at}`}
        className={className}
        x={at + 0.1}
        width={0.8}
        height={(value / most) * 20}
        y={20 - (value / most) * 20}
      />
    ) : null
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${Math.max(hours, calls.length)} 20`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {calls.map((one, at) => barOf(one, at, 'spark-calls'))}
      {(series['errors.sum'] ?? []).map((one, at) => barOf(one, at, 'spark-errors'))}
    </svg>
  )
}
