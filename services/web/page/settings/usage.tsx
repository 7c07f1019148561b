// Usage of a project by keys: against its quotas, by day, and by key.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { json, lines } from '../api/client.ts'
import { bytes, count, duration } from '../engine/format.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Seg } from '../parts/seg.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import type { Shapes } from '../routes.gen.ts'
import { useAllKeys } from './lists.ts'
import './usage.css'

type Line = Shapes['usage.query']['line']
type Figure = 'calls' | 'requests' | 'refused' | 'bytes_stored' | 'reads'

const dayMs = 86_400_000
const days = 30
const figures: Record<Figure, string> = {
  calls: 'Calls',
  bytes_stored: 'Bytes',
  requests: 'Requests',
  refused: 'Refused',
  reads: 'Reads',
}
const shownAs = (figure: Figure, value: number): string => (figure === 'bytes_stored' ? bytes(value) : count(value))

const useUsage = (projectId: string) =>
  useQuery({
    queryKey: ['settings', 'usage', projectId],
    async queryFn({ signal }) {
      const now = Date.now()
      const to = new Date(now + 60_000).toISOString()
      const first = new Date(Math.floor(now / dayMs) * dayMs - (days - 1) * dayMs).toISOString()
      const ask = (by: 'day' | 'hour' | 'key', from: string) =>
        lines('usage.query', { project_id: projectId, from, to, by }, { signal })
      const [byDay, lastDay, byKey, stored] = await Promise.all([
        ask('day', first),
        ask('key', new Date(now - dayMs).toISOString()),
        ask('key', first),
        json('projects.stats', { project_id: projectId }, { signal }),
      ] as const)
      return {
        byDay: Array.from({ length: days }, (_, n): Line | { time: string } => {
          const time = new Date(Date.parse(first) + n * dayMs).toISOString().replace('.000', '')
          return byDay.find((line) => line.time === time) ?? { time }
        }),
        byKey: byKey.sort((a, b) => b.requests - a.requests),
        lastDay: lastDay.reduce((sum, line) => sum + line.bytes_stored, 0),
        stored,
      }
    },
    refetchInterval: 60_000,
  })

function Quota({ label, used, limit = 0 }: { label: string; used: number; limit?: number | undefined }) {
  const share = limit === 0 ? 0 : used / limit
  const told = limit === 0 ? 'no limit' : `${Math.round(share * 100)} % of the limit`
  const kind = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : ''
  return (
    <div className={`quota ${kind}`}>
      <span>{label}</span>
      <span className="num">
        <strong>{bytes(used)}</strong>{' '}
        <span className="second">
          {limit === 0
            ? 'no limit'
            : `of ${bytes(limit)}, ${Math.round(share * 100)} %${share >= 1 ? ': over the limit' : ''}`}
        </span>
      </span>
      <progress max={1} value={Math.min(1, share)} aria-label={`${label}: ${told}`} />
    </div>
  )
}

type BarsProps = { byDay: readonly (Line | { time: string })[]; figure: Figure; limit: number }

function Bars({ byDay, figure, limit }: BarsProps) {
  const values = byDay.map((line) => ('calls' in line ? line[figure] : 0))
  const top = Math.max(1, ...values, figure === 'bytes_stored' ? limit : 0)
  const total = values.reduce((sum, value) => sum + value, 0)
  return (
    <figure className="days">
      <div
        className="day-bars"
        role="img"
        aria-label={`${figures[figure]} by day: ${shownAs(figure, total)} in ${days} days`}
      >
        {figure === 'bytes_stored' && limit > 0 && (
          <i className="quota-line" style={{ bottom: `${(limit / top) * 100}%` }} title={`Limit ${bytes(limit)}`} />
        )}
        {values.map((value, n) => (
          <span key={byDay[n]?.time} title={`${byDay[n]?.time?.slice(0, 10)}: ${shownAs(figure, value)}`}>
            <i style={{ height: value === 0 ? 0 : `max(2px, ${(value / top) * 100}%)` }} />
          </span>
        ))}
      </div>
      <figcaption className="second">
        <span>{byDay[0]?.time?.slice(0, 10)}</span>
        <span>
          {shownAs(figure, total)} in {days} days, at most {shownAs(figure, Math.max(...values))} per day
        </span>
        <span>today (UTC)</span>
      </figcaption>
    </figure>
  )
}

const columnsOf = (nameOf: (id: string) => string): ShortColumn<Line>[] => [
  {
    head: 'Key',
    width: 'minmax(14rem, 2fr)',
    cell: ({ key_id = '' }) => (
      <span>
        {key_id === '' ? 'server' : nameOf(key_id)}
        {nameOf(key_id) !== key_id && <small className="dim">{key_id}</small>}
      </span>
    ),
  },
  ...(['requests', 'refused', 'calls', 'bytes_stored', 'reads'] as const).map((name) => ({
    head: figures[name],
    width: 'minmax(7rem, 1fr)',
    isNumber: true,
    cell: (line: Line) => <span title={String(line[name])}>{shownAs(name, line[name])}</span>,
  })),
  {
    head: 'Query time',
    width: 'minmax(9rem, 1fr)',
    isNumber: true,
    cell: ({ read_ms }) => duration(read_ms),
  },
]

export function Usage({ projectId, limits }: { projectId: string; limits: Shapes['projects.limits_update']['out'] }) {
  const [figure, setFigure] = useState<Figure>('calls')
  const { data, error, refetch } = useUsage(projectId)
  const { items: keys } = useAllKeys('keys.list')
  if (error && data === undefined) return <FaultBox error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <div className="waiting" />
  const nameOf = (id: string): string => keys?.find((key) => key.id === id)?.name || id
  return (
    <>
      <div className="quotas">
        <Quota label="The last 24 hours" used={data.lastDay} limit={limits.bytes_per_day} />
        <Quota
          label="Stored"
          used={Object.values(data.stored).reduce((sum, size) => sum + size, 0)}
          limit={limits.stored_bytes}
        />
      </div>
      <dl className="set-facts">
        {Object.entries(data.stored).map(([name, size]) => (
          <div key={name}>
            <dt>{name.split('_')[0]?.replace('trace', 'calls')} stored</dt>
            <dd>{bytes(size)}</dd>
          </div>
        ))}
      </dl>
      <section className="part" aria-labelledby="by-day">
        <div className="section-head">
          <h2 id="by-day">By day</h2>
          <Seg value={figure} of={Object.entries(figures) as [Figure, string][]} onValue={(one) => setFigure(one)} />
        </div>
        <Bars byDay={data.byDay} figure={figure} limit={limits.bytes_per_day ?? 0} />
      </section>
      <section className="part" aria-labelledby="by-key">
        <h2 id="by-key">By key, {days} days</h2>
        <ShortTable
          label="Usage by key"
          columns={columnsOf(nameOf)}
          items={data.byKey}
          idOf={({ key_id = '' }) => key_id}
          none="No usage in this period."
        />
      </section>
    </>
  )
}
