// The log records that name a span, as its program sent them beside it.
import { useQuery } from '@tanstack/react-query'
import { lines } from '../api/client.ts'
import { moment } from '../engine/format.ts'
import type { Row } from '../engine/rows.ts'
import { FaultBox } from '../parts/fault.tsx'
import { T } from '../parts/text.tsx'

type LogRecord = {
  id: string
  time: string
  severity_text: string
  severity_number: number
  event_name: string | null
  body: unknown
  attributes: Record<string, unknown>
}

/** Whether the id is a span's of OpenTelemetry: calls of other clients have longer ids, and no log records. */
export const isSpan = (id: string): boolean => /^[0-9a-f]{16}$/.test(id)

const maxRecords = 200
/** Records may be written a while before a span begins, and after it has ended. */
const aroundMs = 3_600_000
/** Severity number of OpenTelemetry from which on a record is an error. */
const errorSeverity = 17

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

export function Logs({ projectId, row, zone }: { projectId: string; row: Row; zone: string }) {
  const startMs = row.startedUs / 1000
  const endMs = row.endedUs === null ? startMs + 24 * aroundMs : row.endedUs / 1000
  const { data, error, refetch } = useQuery({
    queryKey: ['logs', projectId, row.id, row.endedUs],
    queryFn: async ({ signal }) => {
      const asked = {
        project_id: projectId,
        trace_id: row.traceId,
        span_id: row.id,
        start: (startMs - aroundMs) / 1000,
        end: (endMs + aroundMs) / 1000,
        limit: maxRecords,
      }
      return (await lines('logs.query', asked, { signal })) as unknown as LogRecord[]
    },
    staleTime: 30_000,
  })
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  if (data === undefined)
    return (
      <p className="dim" role="status">
        Loading log records
      </p>
    )
  if (data.length === 0) return <p className="second">No log records for this span.</p>
  return (
    <ul className="logs" aria-label="Log records">
      {data.map(({ id, time, severity_text, severity_number, event_name, body, attributes }) => (
        <li key={id} className={severity_number >= errorSeverity ? 's-error' : ''}>
          <details>
            <summary>
              <time className="num dim" dateTime={time}>
                {moment(time, zone)}
              </time>{' '}
              <strong>{severity_text}</strong> {event_name !== null && <T text={event_name} max={120} />}{' '}
              <T text={textOf(body)} max={300} />
            </summary>
            <pre>
              <T text={JSON.stringify({ body, attributes }, null, 2)} max={20_000} />
            </pre>
          </details>
        </li>
      ))}
      {data.length === maxRecords && <li className="dim">the first {maxRecords}</li>}
    </ul>
  )
}
