// State of the server: its checks, lag, topics, disk, reads and refusals. It asks while somebody looks.
import { useSession } from '../api/session.ts'
import { bytes, duration } from '../engine/format.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Copy, SectionHead } from '../parts/forms.tsx'
import { DeadLetterList } from './dead-letters.tsx'
import { factsOf, Reads, Refusals, Rollups, Topics } from './figures.tsx'
import { SettingsList } from './settings-list.tsx'
import { type Health, type ServerStatus, useSystem } from './use-system.ts'
import './system.css'

const pillOf: Record<string, string> = { ok: 'good', degraded: 'warn', down: 'bad', unavailable: 'bad' }
const checkLabels: Record<string, string> = {
  log: 'Log',
  storage: 'Storage',
  workers: 'Workers',
  keys: 'Keys',
  providers: 'Providers',
}

function Checks({ health }: { health: Health }) {
  return (
    <ul className="checks" aria-label="Checks">
      {Object.entries(health.checks).map(([name, state]) => (
        <li key={name}>
          <strong>{checkLabels[name] ?? name}</strong> <span className={`pill ${pillOf[state ?? 'ok']}`}>{state}</span>
          {health.reasons?.[name as 'log'] && <p className="second">{health.reasons[name as 'log']}</p>}
        </li>
      ))}
    </ul>
  )
}

type Lags = readonly { atMs: number; lagS: number }[]
const windowMs = 15 * 60_000

function LagLine({ lags, atMs }: { lags: Lags; atMs: number }) {
  const most = Math.max(...lags.map(({ lagS }) => lagS))
  const top = Math.max(1, most)
  const points = lags.map((one) => {
    const x = 100 - ((atMs - one.atMs) / windowMs) * 100
    return `${x.toFixed(2)},${(30 - (one.lagS / top) * 28).toFixed(2)}`
  })
  const now = lags.at(-1)?.lagS ?? 0
  return (
    <figure className="lag">
      <svg
        viewBox="0 0 100 31"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Lag: now ${duration(now * 1_000)}, at most ${duration(most * 1_000)} since this page was opened`}
      >
        <polyline points={points.join(' ')} />
      </svg>
      <figcaption className="second">
        <span>15 min ago</span>
        <span>
          now {duration(now * 1_000)}, at most {duration(most * 1_000)}
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}

function Disk({ store }: { store: ServerStatus['store'] }) {
  const { disk_bytes: size = 0, free_bytes: free = null, stops_at_bytes: stops = null } = store ?? {}
  if (!size || free === null) return null
  const share = 1 - free / size
  return (
    <div className={`quota ${share >= 0.95 ? 'bad' : share >= 0.85 ? 'warn' : ''}`}>
      <span>{store?.kind === 'embedded' ? 'Data folder disk' : 'Database disk'}</span>
      <span className="num">
        <strong>{bytes(free)}</strong>{' '}
        <span className="second">
          free of {bytes(size)}
          {stops !== null && `; writes stop at ${bytes(stops)}`}
        </span>
      </span>
      <progress max={1} value={share} aria-label={`Disk: ${Math.round(share * 100)} % used`} />
    </div>
  )
}

function Figures({ status }: { status: ServerStatus }) {
  const parts = [
    ['Topics', Topics],
    ['Derived tables', Rollups],
    ['Slowest queries since the start', Reads],
    ['Refused requests since the start', Refusals],
  ] as const
  return (
    <>
      <Disk store={status.store} />
      <dl className="set-facts">
        {factsOf(status).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {parts.map(([title, Part]) => (
        <section key={title} className="part" aria-label={title}>
          <h2>{title}</h2>
          <Part status={status} />
        </section>
      ))}
      <section className="part" aria-label="Refused rows">
        <h2>Dead letters</h2>
        <p className="second">
          Rows that the database rejected. After fixing the cause, run <code>callhouse deadletters replay</code>.
        </p>
        <DeadLetterList />
      </section>
      <section className="part" aria-label="Settings of the server">
        <h2>Settings</h2>
        <p className="second">
          Settings of this server process. Change them with environment variables and flags at start.
        </p>
        <SettingsList />
      </section>
    </>
  )
}

type Seen = NonNullable<ReturnType<typeof useSystem>['data']>

/** Nothing of payloads, keys or addresses. */
function reportOf({ health, status, version, atMs }: Seen): string {
  return JSON.stringify({ at: new Date(atMs).toISOString(), ...version, health, status }, null, 2)
}

export function System() {
  const { data: session } = useSession()
  const grants = session?.grants
  const mayReadStatus = grants === undefined || (grants === '*' && session?.role === 'owner')
  const { data, error, refetch } = useSystem(mayReadStatus)
  if (data === undefined)
    return error ? <FaultBox error={error} onRetry={() => void refetch()} /> : <div className="waiting" />
  const { health, status, version } = data
  return (
    <>
      <SectionHead title="System" acts={<Copy text={reportOf(data)} label="Copy for a report" />}>
        Callhouse {version.version}
        {version.commit && ` (${version.commit.slice(0, 12)})`}, refreshed every 5 s. Figures are from this server
        process; for history and alerts use <code>/metrics</code>.
      </SectionHead>
      {error && (
        <p className="told-hint" role="status">
          The server is not responding. Showing the last known state.
        </p>
      )}
      <p className="state">
        <span className={`pill ${pillOf[health.status]}`}>{health.status}</span>
      </p>
      <Checks health={health} />
      <section className="part" aria-label="Lag">
        <h2>Write lag</h2>
        <LagLine lags={data.lags} atMs={data.atMs} />
      </section>
      {status ? (
        <Figures status={status} />
      ) : (
        <p className="second">
          {mayReadStatus
            ? 'Figures are not available now.'
            : 'Only owners of everything can see the figures of the server.'}
        </p>
      )}
    </>
  )
}
