// Panels that one aggregate alone does not make: a histogram of a field's numbers, and feedback over time.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { json } from '../api/client.ts'
import { fieldAsked } from '../engine/boards.ts'
import { parsed } from '../engine/calls-search.ts'
import { narrowed } from '../engine/dashboard-filters.ts'
import { feedbackSeries, type Given } from '../engine/feedback-series.ts'
import { plural } from '../engine/format.ts'
import { FaultBox } from '../parts/fault.tsx'
import { useProject } from '../parts/project.ts'
import { Chart } from './chart.tsx'
import { colorOf, countOf, type Series } from './figures.ts'
import { groupBy } from './groups.ts'
import {
  boundsAsked,
  histogramAsked,
  histogramSeries,
  rangeName,
  rangesOf,
  rangeTerm,
  rangeTicks,
} from './histogram.ts'
import { type FeedbackMeasure, feedbackMeasures } from './measures.ts'
import type { PanelProps } from './panel-props.ts'
import { useAggregate } from './use-aggregate.ts'

const Waiting = ({ title }: { title: string }) => <section className="chart" aria-label={title} aria-busy="true" />
const classOf = ({ isWide }: PanelProps['panel']): string => (isWide ? 'panel wide' : 'panel')

/** The ranges of a field's numbers, undefined where there are none, and how many lie in each. */
function useHistogram(asked: ReturnType<PanelProps['requestOf']>, field: string) {
  const bounds = useAggregate({ ...asked, metrics: boundsAsked(field) })
  const known = bounds.isPlaceholderData ? undefined : bounds.data
  const ranges = known && rangesOf(field, known)
  const counted = useAggregate(ranges && { ...asked, ...histogramAsked(field, ranges) })
  const error = bounds.error ?? counted.error
  const isNone = known !== undefined && ranges === undefined
  return {
    ranges,
    answer: counted.data,
    isNone,
    isWaiting: !isNone && (counted.data === undefined || counted.isPlaceholderData),
    error,
    retry: () => void (bounds.error ? bounds.refetch() : counted.refetch()),
  }
}

export function HistogramPanel({ panel, field, requestOf, within, range, zone, acts }: PanelProps & { field: string }) {
  const { title, filter } = panel
  const { entity, project } = useProject()
  const navigate = useNavigate()
  const [at, setAt] = useState<number>()
  const asked = requestOf(filter)
  const rows = asked.count ?? 'calls'
  const { ranges, answer, isNone, isWaiting, error, retry } = useHistogram(asked, fieldAsked(field))
  const onTake = (from: number, to: number) => {
    if (ranges === undefined || groupBy(field).field === null) return
    const term = rangeTerm(field, ranges, from, to)
    const q = within(filter === undefined ? term : narrowed(parsed(filter).expression, term))
    const search = { q, view: 'all' as const, ...(range !== 'all' && { range }) }
    void navigate({ to: '/p/$entity/$project/calls', params: { entity, project }, search })
  }
  return (
    <div className={classOf(panel)}>
      {error ? (
        <FaultBox error={error} onRetry={retry} />
      ) : isWaiting ? (
        <Waiting title={title} />
      ) : (
        <Chart
          title={title}
          zone={zone}
          acts={acts}
          rows={rows}
          at={at}
          onTake={onTake}
          kind="bars"
          shownAs={countOf}
          unit="count"
          axis={{
            name: field,
            nameOf: (bin) => (ranges === undefined ? '' : rangeName(ranges, Number(bin))),
            ticks: ranges === undefined ? [] : rangeTicks(ranges),
          }}
          note={
            isNone
              ? `No ${rows === 'traces' ? 'trace' : 'call'} in this time range has a number in ${field.slice(0, 80)}`
              : undefined
          }
          buckets={ranges?.bins.map(String) ?? []}
          series={ranges && answer ? histogramSeries(ranges, answer, rows) : []}
          onAt={setAt}
        />
      )}
    </div>
  )
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The latest ones are read. */
const maxItems = 10_000

function useGiven({ requestOf }: Pick<PanelProps, 'requestOf'>) {
  const { project_id, start, end } = requestOf()
  return useQuery({
    queryKey: ['feedback', project_id, 'given', start, end],
    async queryFn({ signal }) {
      const when = { $getField: 'created_at' }
      const query = {
        $expr: { $and: [{ $gte: [when, { $literal: start }] }, { $lt: [when, { $literal: end }] }] },
      }
      const asked = {
        project_id,
        query,
        limit: maxItems,
        sort_by: [{ field: 'created_at', direction: 'desc' as const }],
        fields: ['feedback_type', 'created_at', 'payload.emoji', 'payload.value', 'payload.output'],
      }
      const { result, total_count } = await json('feedback.query', asked, { signal })
      const items = result.map(
        (row): Given => ({
          feedback_type: String(row.feedback_type),
          created_at: String(row.created_at),
          emoji: text(row['payload.emoji']),
          value: text(row['payload.value']),
          output: text(row['payload.output']),
        }),
      )
      return { items, total: total_count ?? items.length }
    },
    staleTime: 30_000,
  })
}

export function FeedbackPanel(props: PanelProps & { measure: FeedbackMeasure }) {
  const { panel, measure, whole, within, zone, acts, hidesEmpty, at, onAt, onTake } = props
  const { title, type } = panel
  const { data, error, refetch } = useGiven(props)
  const series = useMemo(
    () =>
      feedbackSeries(data?.items ?? [], whole.buckets)[measure].map(
        ({ name, values }, n): Series => ({ name, values, color: colorOf(n) }),
      ),
    [data, whole.buckets, measure],
  )
  if (data !== undefined && series.length === 0 && hidesEmpty) return null
  const notes = [
    ...(within('') === '' ? [] : ['All calls: the filter does not apply.']),
    ...(data && data.total > data.items.length ? [`From the latest ${plural(data.items.length, 'item')}.`] : []),
  ]
  return (
    <div className={classOf(panel)}>
      {error ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting title={title} />
      ) : (
        <Chart
          title={title}
          zone={zone}
          acts={acts}
          at={at}
          onAt={onAt}
          series={series}
          buckets={whole.buckets}
          kind={type === 'stack' || type === 'bars' ? type : 'lines'}
          note={notes.join(' ') || undefined}
          shownAs={feedbackMeasures[measure].shownAs}
          unit={feedbackMeasures[measure].unit}
          onTake={(from, to) => onTake(from, to, undefined)}
        />
      )}
    </div>
  )
}
