// Tables of the system page: topics, derived tables, reads and refusals of the process that answers.
import { bytes, count, duration } from '../engine/format.ts'
import { Sheet, type SheetColumn } from '../settings/parts.tsx'
import type { ServerStatus } from './use-system.ts'

type Numbered<Row> = [head: string, cell: (row: Row) => string]

function columnsOf<Row>(
  head: string,
  name: (row: Row) => string,
  numbers: readonly Numbered<Row>[],
): SheetColumn<Row>[] {
  return [
    { head, width: 'minmax(12rem, 2fr)', cell: (row) => <code>{name(row)}</code> },
    ...numbers.map(([title, cell]) => ({
      head: title,
      width: 'minmax(8rem, 1fr)',
      isNumber: true,
      cell: (row: Row) => <span>{cell(row)}</span>,
    })),
  ]
}

type Props = { status: ServerStatus }

export function Topics({ status }: Props) {
  return (
    <Sheet
      label="Topics"
      columns={columnsOf<ServerStatus['topics'][number]>('Topic', ({ topic }) => topic, [
        ['Lag', ({ lag_ms }) => duration(lag_ms)],
        ['Pending', ({ end, applied }) => count(end - applied)],
        ['Pending bytes', ({ unapplied_bytes }) => bytes(unapplied_bytes)],
        ['Applied', ({ applied }) => count(applied)],
      ])}
      items={status.topics}
      idOf={({ topic }) => topic}
      none="This process has no topics."
    />
  )
}

export function Rollups({ status }: Props) {
  return (
    <Sheet
      label="Derived tables"
      columns={columnsOf<ServerStatus['rollups'][number]>('Table', ({ name }) => name, [
        ['Lag', ({ lag_ms }) => duration(lag_ms)],
        ['Status', ({ is_building }) => (is_building ? 'building' : 'up to date')],
      ])}
      items={status.rollups}
      idOf={({ name }) => name}
      none="This process has no derived tables."
    />
  )
}

export function Reads({ status }: Props) {
  return (
    <Sheet
      label="Reads"
      columns={columnsOf<ServerStatus['queries'][number]>('Query', ({ name, path }) => `${name} (${path})`, [
        ['Count', ({ count: times }) => count(times)],
        ['p50', ({ p50_ms }) => duration(p50_ms)],
        ['p95', ({ p95_ms }) => duration(p95_ms)],
      ])}
      items={status.queries}
      idOf={({ name, path }) => `${name} ${path}`}
      none="No queries since the start."
    />
  )
}

export function Refusals({ status: { refused, refused_policies: policies } }: Props) {
  const rows = [
    { why: '429: limit reached', times: refused['429'] },
    { why: '503: dependency unavailable', times: refused['503'] },
    ...Object.entries(policies).map(([policy, times]) => ({ why: `429, ${policy}`, times })),
  ].filter(({ times }) => times > 0)
  return (
    <Sheet
      label="Refusals"
      columns={columnsOf<{ why: string; times: number }>('Reason', ({ why }) => why, [
        ['Count', ({ times }) => count(times)],
      ])}
      items={rows}
      idOf={({ why }) => why}
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
