// The dashboards of a project: how much, how fast, how often wrong and at what cost, over a range of time.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { json } from '../api/client.ts'
import type { Shapes } from '../api/routes.gen.ts'
import { useFirstS } from '../calls/histogram.tsx'
import { RangeMenu } from '../calls/range-menu.tsx'
import { boundsOf, listRequest, parsed } from '../calls/search.ts'
import { type Expression, literalText, queryText } from '../engine/query-text.ts'
import { opNameOf } from '../engine/rows.ts'
import { bucketFor, rangeOfBuckets } from '../engine/time-axis.ts'
import { Empty, Loading, ProjectPage, useProject } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { useZone } from '../preferences.ts'
import { type Board, boardNames, boards, type ChartPanel, type RankingPanel } from './boards.ts'
import { Chart } from './chart.tsx'
import { type Aggregate, type Group, latencies, numberOr0, sums, tiles } from './figures.ts'
import { Ranking } from './ranking.tsx'
import { type DashboardSearch, usualRange } from './search.ts'
import './dashboards.css'

type Asked = Shapes['calls.aggregate']['in']

function useAggregate(asked: Asked | undefined) {
  return useQuery({
    queryKey: ['calls.aggregate', asked],
    queryFn: ({ signal }) => json('calls.aggregate', asked as Asked, { signal }),
    enabled: asked !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}

/** How a value has changed against the time before, as a share of it. */
function Change({ now, before }: { now: number | null; before: number | null }) {
  if (now === null || before === null || before === 0) return <span className="dim">no earlier figure</span>
  const change = now / before - 1
  const text = `${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change * 100).toFixed(Math.abs(change) < 0.1 ? 1 : 0)} %`
  return <span className="second num">{text} vs the time before</span>
}

const Tiles = ({ now, before }: { now: Group; before: Group | undefined }) => (
  <dl className="tiles">
    {tiles.map(({ label, shownAs, of }) => (
      <div key={label}>
        <dt className="second">{label}</dt>
        <dd className="num">{shownAs(of(now))}</dd>
        <dd>
          <Change now={of(now)} before={before === undefined ? null : of(before)} />
        </dd>
      </div>
    ))}
  </dl>
)

/** What a filter leaves, narrowed by one more term. */
const narrowed = (filter: Expression, term: string): string => {
  const [all = []] = filter
  if (filter.length > 1) return `(${queryText(filter)}) ${term}`
  return all.length === 0 ? term : `${queryText(filter)} ${term}`
}

/** The time that the address names, and what every request of the page has in common. */
function useTime(projectId: string) {
  const { q, range = usualRange } = useSearch({ from: '/signed-in/p/$entity/$project/dashboard' })
  const [nowS, setNowS] = useState(() => Math.ceil(Date.now() / 1000))
  const bounds = boundsOf(range, nowS) ?? {}
  const firstS = useFirstS(projectId, bounds.from === undefined)
  const startS = bounds.from ?? firstS ?? undefined
  const endS = bounds.to ?? nowS
  const query = useMemo(() => parsed(q), [q])
  const requestOf = useMemo(() => {
    if (query.fault || startS === undefined || startS >= endS) return undefined
    return (term?: string) => {
      const { expression } = term === undefined ? query : parsed(narrowed(query.expression, term))
      const { sort_by: _, ...rest } = listRequest(projectId, { view: 'all' }, expression, endS)
      return { ...rest, start: startS, end: endS }
    }
  }, [projectId, query, startS, endS])
  // Without a first call there is nothing to ask for.
  const isEmpty = bounds.from === undefined && firstS === null
  return { q, range, query, requestOf, isEmpty, startS, endS, refresh: () => setNowS(Math.ceil(Date.now() / 1000)) }
}

function FilterLine({ q, fault, onChange }: { q: string; fault: string | undefined; onChange(q: string): void }) {
  const [written, setWritten] = useState(q)
  useKeys({ filter: () => document.getElementById('dashboard-filter')?.focus() })
  return (
    <form
      className="dashboard-filter"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        onChange(written.trim())
      }}
    >
      <input
        id="dashboard-filter"
        type="text"
        aria-label="Filter the dashboard"
        aria-invalid={fault !== undefined}
        placeholder="Filter:  op:answer  latency>2s  user:ann"
        spellCheck={false}
        value={written}
        onChange={({ target }) => setWritten(target.value)}
      />
      {fault !== undefined && <span className="s-error">{fault}</span>}
    </form>
  )
}

type RequestOf = NonNullable<ReturnType<typeof useTime>['requestOf']>
type Shared = Pick<Parameters<typeof Chart>[0], 'zone' | 'at' | 'onAt' | 'onTake'>
type PanelProps = { requestOf: RequestOf; bucket: Asked['bucket']; whole: Aggregate }

function ShownChart({ panel, requestOf, bucket, whole, ...shared }: PanelProps & Shared & { panel: ChartPanel }) {
  const { title, kind, shownAs, asked, term } = panel
  const own = useAggregate(asked && { ...requestOf(term), timezone: shared.zone, bucket, ...asked })
  const data = asked ? own.data : whole
  if (own.error) return <FaultBox error={own.error} onRetry={() => void own.refetch()} />
  if (data === undefined) return <section className="chart" aria-label={title} aria-busy="true" />
  return <Chart {...{ ...shared, title, kind, shownAs }} buckets={data.buckets} series={panel.series(data)} />
}

const ranked = [
  ...sums('calls', 'errors', 'input_tokens', 'output_tokens', 'total_cost'),
  { field: 'latency_ms', as: 'p95' },
]

/** The term of a filter that a name of a ranking stands for. */
const termOf: Readonly<Record<RankingPanel['groupBy'], (name: string) => string>> = {
  op_name: (name) => `op:${literalText(opNameOf(name))}`,
  user: (name) => `user:${literalText(name)}`,
  model: (name) => `model:${literalText(name)}`,
  exception: (name) => `error:${literalText(name)}`,
}

type RankingProps = { panel: RankingPanel; requestOf: RequestOf; within(term: string): string; range: string }

function ShownRanking({ panel, requestOf, within, range }: RankingProps) {
  const { title, head, groupBy, first, term } = panel
  const metrics = [first, ...ranked.filter(({ field, as }) => field !== first.field || as !== first.as)]
  const { data, error, refetch } = useAggregate({ ...requestOf(term), metrics, group_by: [groupBy], top: 10 })
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  return (
    <Ranking
      {...{ title, head, answer: data, range, first: `${first.field}.${first.as}` }}
      nameOf={groupBy === 'op_name' ? opNameOf : String}
      query={(name) => within(termOf[groupBy](name))}
    />
  )
}

export function Dashboard() {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: '/signed-in/p/$entity/$project/dashboard' })
  const navigate = useNavigate({ from: '/p/$entity/$project/dashboard' })
  const zone = useZone(search.tz)
  const { q, range, query, requestOf, isEmpty, startS = 0, endS, refresh } = useTime(projectId)
  const [at, setAt] = useState<number>()
  const spanS = endS - startS
  const bucket = bucketFor(spanS, 90)
  const board: Board = boards[search.board ?? 'overview']
  const whole = useAggregate(
    requestOf && {
      ...{ ...requestOf(), timezone: zone, bucket },
      metrics: [...sums('calls', 'errors', 'input_tokens', 'output_tokens', 'total_cost'), ...latencies],
      ...(startS >= spanS && { compare: { start: startS - spanS, end: startS } }),
    },
  )
  const [group] = whole.data?.groups ?? []
  const change = (next: DashboardSearch) => {
    setAt(undefined)
    void navigate({ search: (old) => ({ ...old, ...next }) })
  }
  const onTake = (from: number, to: number) => {
    const taken = rangeOfBuckets(whole.data?.buckets ?? [], from, to, endS)
    // One instant leads to its calls, several are looked at more closely.
    if (from === to)
      void navigate({
        to: '/p/$entity/$project/calls',
        params: { entity, project },
        search: { view: 'all', range: taken, ...(q && { q }) },
      })
    else change({ range: taken })
  }
  const within = (term: string) => narrowed(query.expression, term)
  const shown = () => {
    if (whole.error) return <FaultBox error={whole.error} onRetry={() => void whole.refetch()} />
    if (query.fault) return null
    if (whole.data === undefined && !isEmpty) return <Loading what="the dashboard" />
    if (whole.data === undefined || !requestOf || group === undefined || numberOr0(group.total['calls.sum']) === 0)
      return (
        <Empty title="No calls in this time">
          <p className="second">Choose a longer range, or another filter.</p>
        </Empty>
      )
    const asking = { requestOf, zone, bucket, whole: whole.data }
    return (
      <div className="scroll">
        <div className="dashboard">
          <h1 className="hidden">
            {board.title} of {projectId}
          </h1>
          <Tiles now={group} before={whole.data.previous?.groups[0]} />
          <div className="charts">
            {board.charts.map((panel) => (
              <ShownChart key={panel.title} {...{ ...asking, panel, at, onTake }} onAt={setAt} />
            ))}
          </div>
          <div className="charts">
            {board.rankings.map((panel) => (
              <ShownRanking key={panel.title} {...{ requestOf, panel, within, range }} />
            ))}
          </div>
        </div>
      </div>
    )
  }
  return (
    <ProjectPage title="Dashboard">
      <div className="bar">
        <div className="seg" role="group" aria-label="Dashboards">
          {boardNames.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={board === boards[name]}
              onClick={() => change({ board: name === 'overview' ? undefined : name })}
            >
              {boards[name].title}
            </button>
          ))}
        </div>
        <FilterLine
          key={q ?? ''}
          q={q ?? ''}
          fault={query.fault?.message}
          onChange={(next) => change({ q: next || undefined })}
        />
        <RangeMenu
          range={range === 'all' ? undefined : range}
          zone={zone}
          onChange={(next) => change({ range: next ?? 'all' })}
        />
        <button type="button" className="icon line" aria-label="Refresh" onClick={refresh}>
          <Icon name="refresh" />
        </button>
      </div>
      {shown()}
    </ProjectPage>
  )
}
