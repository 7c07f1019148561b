// Tables of the system page: topics, derived tables, reads and refusals of the process that answers.
import { bytes, count, duration } from '../engine/format.ts'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import type { ServerStatus } from './use-system.ts'

type NumbersProps<Row> = {
  label: string
  head: string
  items: readonly Row[]
  nameOf(row: Row): string
  numbers: Readonly<Record<string, (row: Row) => string>>
  none: string
}

function Numbers<Row>({ label, head, items, nameOf, numbers, none }: NumbersProps<Row>) {
  const columns: ShortColumn<Row>[] = [
    { head, width: 'minmax(12rem, 2fr)', cell: (row) => <code>{nameOf(row)}</code> },
    ...Object.entries(numbers).map(([title, cell]) => ({
      head: title,
      width: 'minmax(8rem, 1fr)',
      isNumber: true,
      cell,
    })),
  ]
  return <ShortTable label={label} columns={columns} items={items} idOf={nameOf} none={none} />
}

type Props = { status: ServerStatus }

export const Topics = ({ status }: Props) => (
  <Numbers
    label="Topics"
    head="Topic"
    items={status.topics}
    nameOf={({ topic }) => topic}
    numbers={{
      Lag: ({ lag_ms }) => duration(lag_ms),
      Pending: ({ end, applied }) => count(end - applied),
      'Pending bytes': ({ unapplied_bytes }) => bytes(unapplied_bytes),
      Applied: ({ applied }) => count(applied),
    }}
    none="This process has no topics."
  />
)

export const Rollups = ({ status }: Props) => (
  <Numbers
    label="Derived tables"
    head="Table"
    items={status.rollups}
    nameOf={({ name }) => name}
    numbers={{
      Lag: ({ lag_ms }) => duration(lag_ms),
      Status: ({ is_building }) => (is_building ? 'building' : 'up to date'),
    }}
    none="This process has no derived tables."
  />
)

export const Reads = ({ status }: Props) => (
  <Numbers
    label="Reads"
    head="Query"
    items={status.queries}
    nameOf={({ name, path }) => `${name} (${path})`}
    numbers={{
      Count: ({ count: times }) => count(times),
      p50: ({ p50_ms }) => duration(p50_ms),
      p95: ({ p95_ms }) => duration(p95_ms),
    }}
    none="No queries since the start."
  />
)

export function Refusals({ status: { refused, refused_policies: policies } }: Props) {
  const rows = [
    { why: '429: limit reached', times: refused['429'] },
    { why: '503: dependency unavailable', times: refused['503'] },
    ...Object.entries(policies).map(([policy, times]) => ({ why: `429, ${policy}`, times })),
  ].filter(({ times }) => times > 0)
  return (
    <Numbers
      label="Refusals"
      head="Reason"
      items={rows}
      nameOf={({ why }) => why}
      numbers={{ Count: ({ times }) => count(times) }}
      none="No refused requests since the start."
    />
  )
}

/** The most important facts, in words. */
export function factsOf(status: ServerStatus): [name: string, value: string][] {
  const { role, started_at, unapplied, dead_letters, store, process } = status
  return [
    ['Role', role],
    ['Uptime', duration(Date.now() - Date.parse(started_at))],
    ['Pending', `${bytes(unapplied.bytes)} of ${bytes(unapplied.limit_bytes)}`],
    ['Dead letters', count(dead_letters.count)],
    [
      'Store',
      store === null ? 'not responding' : `ClickHouse ${store.version}${store.kind === 'embedded' ? ', embedded' : ''}`,
    ],
    ...(store === null
      ? []
      : ([['Stored', `${bytes(store.bytes)} in ${count(store.parts)} parts`]] as [string, string][])),
    ['Memory', `${bytes(process.rss_bytes)}, heap ${bytes(process.heap_bytes)}`],
    ['Event loop p99', duration(process.event_loop_p99_ms)],
  ]
}
