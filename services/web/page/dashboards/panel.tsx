// One panel of a dashboard: a chart over time, a table of the greatest groups, or a single number.

import { type ReactNode, useId } from 'react'
import { groupNamesOf, groupsOf, rankedGroups } from '../engine/boards.ts'
import { parsed } from '../engine/calls-search.ts'
import { narrowed } from '../engine/dashboard-filters.ts'
import type { RowsOf } from '../engine/filter-fields.ts'
import { count } from '../engine/format.ts'
import { FaultBox } from '../parts/fault.tsx'
import { previousOf } from '../parts/range-menu.tsx'
import { T } from '../parts/text.tsx'
import { Chart } from './chart.tsx'
import { FeedbackPanel, HistogramPanel } from './field-panel.tsx'
import { countedText, countOf, type Group, latencies, maxGroups, sums } from './figures.ts'
import { groupBy, nameOfGroup, termsOf } from './groups.ts'
import { heatAsked, heatSeries } from './heat.ts'
import { fieldOf, isOfFeedback, type Measure, type Metric, measureNamed, seriesOf } from './measures.ts'
import type { PanelProps } from './panel-props.ts'
import { Ranking } from './ranking.tsx'
import { useAggregate } from './use-aggregate.ts'

/** Metrics of the whole, for most panels without groups. */
export const wholeMetrics: readonly Metric[] = [
  ...sums('calls', 'errors', 'input_tokens', 'output_tokens', 'total_cost'),
  ...latencies,
]

/** Factor from which on the change is shown as a factor. */
const manyTimes = 10

const changeText = (change: number): string =>
  change >= manyTimes
    ? `× ${count(Math.round(change + 1))}`
    : `${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change * 100).toFixed(Math.abs(change) < 0.1 ? 1 : 0)} %`

type ChangeProps = { now: number | null; before: number | null; range: string }

/** The change of a value against the period before, as a share of it. */
export function ChangeSince({ now, before, range }: ChangeProps) {
  if (now === null || before === null || before === 0)
    return <span className="dim">No data for the previous period</span>
  const change = now / before - 1
  return (
    <span className="second num">
      {changeText(change)} vs {previousOf(range)}
    </span>
  )
}

type Known = PanelProps & { measure: Measure; rows: RowsOf }

export function ShownPanel(props: PanelProps) {
  const { measure: name } = props.panel
  const field = fieldOf(name)
  if (isOfFeedback(name)) return <FeedbackPanel {...props} measure={name} />
  if (props.panel.type === 'histogram' && field !== undefined) return <HistogramPanel {...props} field={field} />
  // Its own filter or that of the page says so.
  const rows = props.requestOf(props.panel.filter).count ?? 'calls'
  const measure = measureNamed(props.panel.measure, rows)
  if (measure === undefined) return null
  const { type, by, by2 } = props.panel
  if (rows === 'traces' && [by, by2].includes('model'))
    return (
      <PanelBox {...props.panel} acts={props.acts}>
        <p className="second">
          A trace has the models of all its calls: filter without is:root and fields of traces to group calls by model.
        </p>
      </PanelBox>
    )
  if (type === 'table' && by !== undefined) return <ShownRanking {...props} {...{ measure, rows, by }} view="all" />
  if (type === 'number') return <ShownNumber {...props} {...{ measure, rows }} />
  return <ShownChart {...props} {...{ measure, rows }} />
}

type BoxProps = Pick<PanelProps, 'acts'> & { title: string; isWide?: boolean | undefined; children: ReactNode }

/** A panel without figures: it still can be edited and removed. */
export function PanelBox({ title, isWide, acts, children }: BoxProps) {
  const id = useId()
  return (
    <section className={isWide ? 'chart wide' : 'chart'} aria-labelledby={id}>
      <header>
        <h2 id={id}>
          <T text={title} max={100} />
        </h2>
        <span className="second" />
        {acts}
      </header>
      {children}
    </section>
  )
}

type PanelFaultProps = Omit<BoxProps, 'children'> & { error: Error; onRetry(): void }

const PanelFault = ({ title, isWide, acts, ...fault }: PanelFaultProps) => (
  <PanelBox {...{ title, isWide, acts }}>
    <FaultBox {...fault} />
  </PanelBox>
)

const isOfWhole = ({ field, as }: Metric): boolean =>
  wholeMetrics.some((metric) => metric.field === field && metric.as === as)

/** The aggregate of a panel; that of the whole where it has what is asked for. */
function useOwn({
  panel: { type, by, by2, filter },
  measure: { asked },
  requestOf,
  zone,
  bucket,
  whole,
  compare,
}: Known) {
  const isHeat = type === 'heat'
  const isWhole = !isHeat && by === undefined && filter === undefined && asked.every(isOfWhole)
  const request = { timezone: zone, bucket, metrics: [...asked] }
  const grouped =
    by === undefined ? { ...(compare && { compare }) } : { group_by: groupsOf({ by, by2 }), top: maxGroups }
  const more = isHeat ? heatAsked : grouped
  const own = useAggregate(isWhole ? undefined : { ...requestOf(filter), ...request, ...more })
  return { ...own, data: isWhole ? whole : own.data, error: isWhole ? null : own.error }
}

function ShownChart(props: Known) {
  const { panel, measure, rows, acts, showsBefore, zone, at, onAt, onTake } = props
  const { title, type, by, filter } = panel
  const { data, error, refetch } = useOwn(props)
  const isGrouped = by !== undefined
  const isHeat = type === 'heat'
  const before = showsBefore && !isGrouped && !isHeat && data?.previous
  return (
    <div className={panel.isWide ? 'panel wide' : 'panel'}>
      {error !== null ? (
        <PanelFault {...{ title, acts, error }} isWide={false} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <section className="chart" aria-label={title} aria-busy="true" />
      ) : (
        <Chart
          title={title}
          zone={zone}
          at={at}
          onAt={onAt}
          acts={acts}
          rows={rows}
          buckets={data.buckets}
          shownAs={isHeat ? countOf : measure.shownAs}
          unit={measure.unit}
          kind={type === 'table' || type === 'number' || type === 'histogram' ? 'lines' : type}
          series={isHeat ? heatSeries(data) : seriesOf(measure, data, isGrouped)}
          before={before ? seriesOf(measure, before, false) : undefined}
          onTake={(from, to) => onTake(from, to, filter)}
        />
      )}
    </div>
  )
}

const figureOf = ({ main }: Measure, group: Group | undefined): number | null =>
  group === undefined ? null : main((metric) => group.total[metric])

function ShownNumber(props: Known) {
  const { panel, measure, rows, acts } = props
  const id = useId()
  const { data, error, refetch } = useOwn(props)
  if (error !== null)
    return <PanelFault {...{ acts, error }} {...panel} isWide={panel.isWide === true} onRetry={() => void refetch()} />
  const [now, before] = [figureOf(measure, data?.groups[0]), figureOf(measure, data?.previous?.groups[0])]
  return (
    <section className={panel.isWide ? 'chart number wide' : 'chart number'} aria-labelledby={id}>
      <header>
        <h2 id={id}>
          <T text={panel.title} max={100} />
        </h2>
        <span className="second">{countedText(rows)}</span>
        {acts}
      </header>
      <p className="figure num">{data === undefined ? '' : measure.shownAs(now)}</p>
      <ChangeSince now={now} before={before} range={props.range} />
    </section>
  )
}

const ranked = [
  ...sums('calls', 'errors', 'input_tokens', 'output_tokens', 'total_cost'),
  { field: 'latency_ms', as: 'p95' },
]

type RankingProps = Pick<
  Known,
  'panel' | 'measure' | 'rows' | 'requestOf' | 'within' | 'range' | 'acts' | 'hidesEmpty'
> & {
  by: string
  view: 'all' | undefined
}

export function ShownRanking(props: RankingProps) {
  const { panel, measure, rows, by, requestOf, within, range, view, acts, hidesEmpty } = props
  const { title, filter } = panel
  const { first } = measure
  const by2 = panel.by2
  const groups = groupNamesOf({ by, by2 })
  const metrics = [first, ...ranked.filter(({ field, as }) => field !== first.field || as !== first.as)]
  const asked = { ...requestOf(filter), metrics, group_by: groupsOf({ by, by2 }), top: rankedGroups + 1, rest: false }
  const { data, error, refetch } = useAggregate(asked)
  if (error) return <PanelFault {...{ title, acts, error }} isWide={false} onRetry={() => void refetch()} />
  const own = (term: string) => within(filter === undefined ? term : narrowed(parsed(filter).expression, term))
  return (
    <Ranking
      title={title}
      answer={data}
      rows={rows}
      range={range}
      view={view}
      acts={acts}
      hidesEmpty={hidesEmpty}
      first={`${first.field}.${first.as}`}
      heads={groups.map((one) => groupBy(one).head)}
      nameOf={(key, place) => nameOfGroup(groups[place] ?? '', key)}
      query={(keys) => {
        const terms = termsOf(groups, keys)
        return terms === undefined ? undefined : own(terms)
      }}
    />
  )
}
