// Tables of the system page: topics, rollups, reads and refusals, from the figures of the server.
import { bytes, count, duration } from '../engine/format.ts'
import { boundOf, labelsOf, type Metrics, sumOf } from '../engine/metrics.ts'
import { Sheet, type SheetColumn } from '../settings/parts.tsx'

const num = (value: number | undefined): string => (value === undefined ? '–' : count(Math.round(value)))
const seconds = (value: number | undefined): string =>
  value === undefined ? '–' : Number.isFinite(value) ? duration(value * 1_000) : 'more'

type Row = { name: string } & Record<string, number | string | undefined>

const column = (head: string, cell: (row: Row) => string): SheetColumn<Row> => ({
  ...{ head, width: 'minmax(8rem, 1fr)', isNumber: true },
  cell: (row) => <span>{cell(row)}</span>,
})
const nameColumn = (head: string): SheetColumn<Row> => ({
  ...{ head, width: 'minmax(12rem, 2fr)' },
  cell: ({ name }) => <code>{name}</code>,
})

const idOf = ({ name }: Row): string => name

export function Topics({ figures }: { figures: Metrics }) {
  const rows = labelsOf(figures, 'callhouse_log_topic_lag_seconds', 'topic').map((topic) => ({
    name: topic,
    applied: sumOf(figures, 'callhouse_rows_applied_total', { topic }),
    waiting: sumOf(figures, 'callhouse_log_topic_unapplied_records', { topic }),
    lag: sumOf(figures, 'callhouse_log_topic_lag_seconds', { topic }),
    dead: sumOf(figures, 'callhouse_dead_letters_total', { topic }) ?? 0,
  }))
  return (
    <Sheet
      label="Topics"
      columns={[
        nameColumn('Topic'),
        column('Lag', ({ lag }) => seconds(lag as number | undefined)),
        column('Waiting', ({ waiting }) => num(waiting as number | undefined)),
        column('Rows applied', ({ applied }) => num(applied as number | undefined)),
        column('Dead letters', ({ dead }) => num(dead as number | undefined)),
      ]}
      items={rows}
      idOf={idOf}
      rowClass={({ dead }) => ((dead as number) > 0 ? 's-error' : '')}
      none="This process has no topics."
    />
  )
}

export function Rollups({ figures }: { figures: Metrics }) {
  const rows = labelsOf(figures, 'callhouse_rollup_lag_seconds', 'table').map((table) => ({
    name: table,
    lag: sumOf(figures, 'callhouse_rollup_lag_seconds', { table }),
  }))
  return (
    <Sheet
      label="Derived tables"
      columns={[nameColumn('Table'), column('Lag', ({ lag }) => seconds(lag as number | undefined))]}
      items={rows}
      idOf={idOf}
      none="This process derives nothing."
    />
  )
}

export function Reads({ figures }: { figures: Metrics }) {
  const name = 'callhouse_read_seconds'
  const rows = labelsOf(figures, `${name}_count`, 'path')
    .map((path) => {
      const reads = sumOf(figures, `${name}_count`, { path }) ?? 0
      return {
        ...{ name: path, reads, mean: (sumOf(figures, `${name}_sum`, { path }) ?? 0) / Math.max(1, reads) },
        most: boundOf(figures, name, 0.95, { path }),
        failed: sumOf(figures, `${name}_count`, { path, outcome: 'failed' }) ?? 0,
      }
    })
    .sort((a, b) => b.mean - a.mean)
  return (
    <Sheet
      label="Reads"
      columns={[
        nameColumn('Path'),
        column('Reads', ({ reads }) => num(reads as number)),
        column('Mean', ({ mean }) => seconds(mean as number)),
        column('19 of 20 within', ({ most }) => seconds(most as number | undefined)),
        column('Failed', ({ failed }) => num(failed as number)),
      ]}
      items={rows}
      idOf={idOf}
      none="Nothing has been read since the start."
    />
  )
}

const refusals = ['callhouse_refused_total', 'callhouse_append_refused_total', 'callhouse_auth_failures_total']

export function Refusals({ figures }: { figures: Metrics }) {
  const rows = refusals
    .flatMap((name) => (figures.get(name) ?? []).map((sample) => ({ ...sample, name })))
    .filter(({ value }) => value > 0)
    .map(({ labels, value, name }) => ({
      ...{ name: Object.values(labels).join(' ') || name, value },
    }))
  return (
    <Sheet
      label="Refusals"
      columns={[nameColumn('Why'), column('Times', ({ value }) => num(value as number))]}
      items={rows}
      idOf={idOf}
      none="Nothing has been refused since the start."
    />
  )
}

/** What one looks at first, in words. */
export function factsOf(figures: Metrics): [name: string, value: string][] {
  const of = (name: string) => sumOf(figures, name)
  const started = of('process_start_time_seconds')
  const limit = of('callhouse_log_unapplied_limit_bytes')
  const [info] = figures.get('callhouse_info') ?? []
  return [
    ['Role', info?.labels.role ?? '–'],
    ['Up for', started === undefined ? '–' : duration(Date.now() - started * 1_000)],
    ['Waits to be applied', `${bytes(of('callhouse_log_unapplied_bytes') ?? 0)}${limit ? ` of ${bytes(limit)}` : ''}`],
    ['Dead letters', num(of('callhouse_dead_letters_total') ?? 0)],
    ['Memory', bytes(of('process_resident_memory_bytes') ?? 0)],
    ['Event loop, 99 of 100', seconds(of('nodejs_eventloop_lag_p99_seconds'))],
    ['Keys that end soon', num(of('callhouse_keys_expiring') ?? 0)],
    ['Prices read', `${num(of('callhouse_prices_age_days') ?? 0)} d ago`],
  ]
}
