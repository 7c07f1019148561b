// The dashboard of a project: how much, how fast, how often wrong and at what cost, over a range of time.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { json } from '../api/client.ts'
import type { Shapes } from '../api/routes.gen.ts'
import { useFirstS } from '../calls/histogram.tsx'
import { RangeMenu } from '../calls/range-menu.tsx'
import { boundsOf, listRequest, parsed } from '../calls/search.ts'
import { count, duration, money, tokens } from '../engine/format.ts'
import { type Expression, literalText, queryText } from '../engine/query-text.ts'
import { opNameOf } from '../engine/rows.ts'
import { bucketFor, rangeOfBuckets } from '../engine/time-axis.ts'
import { Empty, Loading, ProjectPage, useProject } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import { Chart, type Series } from './chart.tsx'
import { CsvButton } from './panel-file.tsx'
import { usualRange } from './search.ts'
import './dashboards.css'

type Asked = Shapes['calls.aggregate']['in']
type Answer = Shapes['calls.aggregate']['out']
type Group = Answer['groups'][number]

const sums = (...fields: string[]) => fields.map((field) => ({ field, as: 'sum' }))
const latencies = ['p50', 'p95', 'p99'].map((as) => ({ field: 'latency_ms', as }))

/** Colours of groups, in the order of their size; all others together come last. */
const colors = ['--llm', '--tool', '--agent', '--retrieval', '--evaluation', '--embedding', '--guardrail']
const maxModels = colors.length

function useAggregate(asked: Asked | undefined) {
  return useQuery({
    queryKey: ['calls.aggregate', asked],
    queryFn: ({ signal }) => json('calls.aggregate', asked as Asked, { signal }),
    enabled: asked !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}

const numberOr0 = (value: number | null | undefined): number => value ?? 0

type Tile = { label: string; shownAs(value: number | null): string; of(group: Group): number | null }

/** Providers need not report totals. */
const tokensOf = (total: Group['total']): number | null => {
  const [input, output] = [total['input_tokens.sum'] ?? null, total['output_tokens.sum'] ?? null]
  return input === null && output === null ? null : numberOr0(input) + numberOr0(output)
}

const share = (value: number | null): string =>
  value === null ? '–' : `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`
const countOf = (value: number | null): string => count(value ?? 0)
const total = (name: string) => (group: Group) => group.total[name] ?? null

const tiles: readonly Tile[] = [
  { label: 'Calls', shownAs: countOf, of: total('calls.sum') },
  {
    ...{ label: 'Error rate', shownAs: share },
    of: ({ total }) => (total['calls.sum'] ? numberOr0(total['errors.sum']) / total['calls.sum'] : null),
  },
  { label: 'Latency p50', shownAs: duration, of: total('latency_ms.p50') },
  { label: 'Latency p95', shownAs: duration, of: total('latency_ms.p95') },
  { label: 'Tokens', shownAs: tokens, of: ({ total }) => tokensOf(total) },
  { label: 'Cost', shownAs: money, of: total('total_cost.sum') },
]

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

const nameOf = ({ keys, is_rest }: Group): string => (is_rest ? 'all others' : keys[0] || 'unknown')

/** The series of each group with anything to show. */
function byGroup(answer: Answer | undefined, ...metrics: string[]): Series[] {
  const sumOf = (of: (metric: string) => number | null | undefined) =>
    metrics.reduce((sum, metric) => sum + numberOr0(of(metric)), 0)
  return (answer?.groups ?? [])
    .filter(({ total }) => sumOf((metric) => total[metric]) > 0)
    .map((group, n) => ({
      name: nameOf(group),
      color: group.is_rest ? '--other' : (colors[n % colors.length] as string),
      values: (answer?.buckets ?? []).map((_, at) => sumOf((metric) => group.series[metric]?.[at])),
    }))
}

/** What a filter leaves, narrowed by one more term. */
const narrowed = (filter: Expression, term: string): string => {
  const [all = []] = filter
  if (filter.length > 1) return `(${queryText(filter)}) ${term}`
  return all.length === 0 ? term : `${queryText(filter)} ${term}`
}

/** The figures of a ranked group. */
const figures: readonly Tile[] = [
  { label: 'Calls', shownAs: countOf, of: total('calls.sum') },
  { label: 'Errors', shownAs: countOf, of: total('errors.sum') },
  { label: 'p95', shownAs: duration, of: total('latency_ms.p95') },
  { label: 'Tokens', shownAs: tokens, of: ({ total }) => tokensOf(total) },
  { label: 'Cost', shownAs: money, of: total('total_cost.sum') },
]

/** Errors stand out where there are any. */
const toneOf = (label: string, value: number | null): string => {
  if (label !== 'Errors') return 'num'
  return numberOr0(value) > 0 ? 'num s-error' : 'num dim'
}

type ListProps = { title: string; head: string; answer: Answer | undefined; query(name: string): string; range: string }

/** The groups with most calls, each a way to its calls. */
function Ranking({ title, head, answer, query, range }: ListProps) {
  const { entity, project } = useProject()
  const groups = (answer?.groups ?? []).filter(({ keys, is_rest }) => !is_rest && keys[0])
  if (groups.length === 0) return null
  const most = Math.max(...groups.map(({ total }) => numberOr0(total['calls.sum'])))
  return (
    <section className="ranking" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <CsvButton
          {...{ title, columns: [head, ...figures.map(({ label }) => label)] }}
          rows={() => groups.map((group) => [group.keys[0] ?? '', ...figures.map(({ of }) => of(group))])}
        />
      </header>
      <div className="numbers" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {[head, ...figures.map(({ label }) => label)].map((one) => (
                <th key={one} scope="col">
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups
              .map((group) => [group.keys[0] ?? '', group] as const)
              .map(([name, group]) => (
                <tr key={name}>
                  <th scope="row">
                    <Link
                      to="/p/$entity/$project/calls"
                      params={{ entity, project }}
                      search={{ q: query(name), view: 'all', ...(range !== 'all' && { range }) }}
                    >
                      <T text={opNameOf(name)} max={80} />
                    </Link>
                    <i style={{ width: `${(numberOr0(group.total['calls.sum']) / most) * 100}%` }} />
                  </th>
                  {figures.map(({ label, shownAs, of }) => (
                    <td key={label} className={toneOf(label, of(group))}>
                      {shownAs(of(group))}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </section>
  )
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
  const common = useMemo(() => {
    if (query.fault || startS === undefined || startS >= endS) return undefined
    const { sort_by: _, ...rest } = listRequest(projectId, { view: 'all' }, query.expression, endS)
    return { ...rest, start: startS, end: endS }
  }, [projectId, query, startS, endS])
  // Without a first call there is nothing to ask for.
  const isEmpty = bounds.from === undefined && firstS === null
  return { q, range, query, common, isEmpty, startS, endS, refresh: () => setNowS(Math.ceil(Date.now() / 1000)) }
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

export function Dashboard() {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: '/signed-in/p/$entity/$project/dashboard' })
  const navigate = useNavigate({ from: '/p/$entity/$project/dashboard' })
  const zone = useZone(search.tz)
  const { q, range, query, common, isEmpty, startS = 0, endS, refresh } = useTime(projectId)
  const [at, setAt] = useState<number>()
  const spanS = endS - startS
  const bucket = bucketFor(spanS, 90)
  const time = common && { ...common, timezone: zone, bucket }
  const whole = useAggregate(
    time && {
      ...{
        ...time,
        metrics: [...sums('calls', 'errors', 'input_tokens', 'output_tokens', 'total_cost'), ...latencies],
      },
      ...(startS >= spanS && { compare: { start: startS - spanS, end: startS } }),
    },
  )
  const models = useAggregate(
    time && {
      ...time,
      group_by: ['model'],
      top: maxModels,
      metrics: sums('input_tokens', 'output_tokens', 'total_cost'),
    },
  )
  const ranked = {
    metrics: [
      ...sums('calls', 'errors', 'input_tokens', 'output_tokens', 'total_cost'),
      { field: 'latency_ms', as: 'p95' },
    ],
  }
  const ops = useAggregate(common && { ...common, ...ranked, group_by: ['op_name'], top: 10 })
  const users = useAggregate(common && { ...common, ...ranked, group_by: ['user'], top: 10 })
  const [group] = whole.data?.groups ?? []
  const buckets = whole.data?.buckets ?? []
  const change = (next: { q?: string | undefined; range?: string | undefined }) => {
    setAt(undefined)
    void navigate({ search: (old) => ({ ...old, ...next }) })
  }
  const onTake = (from: number, to: number) => {
    const taken = rangeOfBuckets(buckets, from, to, endS)
    // One instant leads to its calls, several are looked at more closely.
    if (from === to)
      void navigate({
        to: '/p/$entity/$project/calls',
        params: { entity, project },
        search: { view: 'all', range: taken, ...(q && { q }) },
      })
    else change({ range: taken })
  }
  const own = (name: string, label: string, color: string): Series => ({
    ...{ name: label, color },
    values: group?.series[name] ?? [],
  })
  const within = (term: string) => narrowed(query.expression, term)
  const shared = { buckets, zone, at, onAt: setAt, onTake }
  const shown = () => {
    if (whole.error) return <FaultBox error={whole.error} onRetry={() => void whole.refetch()} />
    if (query.fault) return null
    if (whole.data === undefined && !isEmpty) return <Loading what="the dashboard" />
    if (whole.data === undefined || group === undefined || numberOr0(group.total['calls.sum']) === 0)
      return (
        <Empty title="No calls in this time">
          <p className="second">Choose a longer range, or another filter.</p>
        </Empty>
      )
    return (
      <div className="scroll">
        <div className="dashboard">
          <h1 className="hidden">Dashboard of {projectId}</h1>
          <Tiles now={group} before={whole.data.previous?.groups[0]} />
          <div className="charts">
            <Chart
              {...shared}
              title="Calls and errors"
              kind="bars"
              shownAs={countOf}
              series={[own('calls.sum', 'calls', '--accent'), own('errors.sum', 'errors', '--danger')]}
            />
            <Chart
              {...shared}
              title="Latency"
              kind="lines"
              shownAs={duration}
              series={[
                own('latency_ms.p50', 'p50', '--success'),
                own('latency_ms.p95', 'p95', '--warning'),
                own('latency_ms.p99', 'p99', '--danger'),
              ]}
            />
            <Chart
              {...shared}
              title="Tokens by model"
              kind="stack"
              shownAs={tokens}
              series={byGroup(models.data, 'input_tokens.sum', 'output_tokens.sum')}
            />
            <Chart
              {...shared}
              title="Cost by model"
              kind="stack"
              shownAs={money}
              series={byGroup(models.data, 'total_cost.sum')}
            />
          </div>
          <div className="charts">
            <Ranking
              {...{ title: 'Operations with most calls', head: 'Operation', answer: ops.data, range }}
              query={(name) => within(`op:${literalText(opNameOf(name))}`)}
            />
            <Ranking
              {...{ title: 'Users with most calls', head: 'User', answer: users.data, range }}
              query={(name) => within(`user:${literalText(name)}`)}
            />
          </div>
        </div>
      </div>
    )
  }
  return (
    <ProjectPage title="Dashboard">
      <div className="bar">
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
