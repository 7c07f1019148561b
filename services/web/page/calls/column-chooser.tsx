// Which columns stand behind the fixed ones: fields of the latest calls by how many have them, in the reader's order.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { count } from '../engine/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { columnName } from './row.tsx'
import { madeColumns, usualColumns } from './search.ts'

/** Columns of the call itself, beside what payloads hold. */
const plain = ['thread_id', 'platform_user_id', 'id', 'trace_id', 'inputs', 'output', ...madeColumns]
const maxListed = 200

type ChooserProps = {
  project: string
  columns: readonly string[]
  onChange(columns: string[]): void
  onClose(): void
}

export function ColumnChooser({ project, columns, onChange, onClose }: ChooserProps) {
  const [search, setSearch] = useState('')
  const { data, error, refetch } = useQuery({
    queryKey: ['calls.fields', project, ''],
    queryFn: ({ signal }) => json('calls.fields', { project_id: project, limit: 1_000 }, { signal, fresh: 'any' }),
    staleTime: 30_000,
  })
  const chosen = columns.filter((path) => path !== '-')
  const set = (next: string[]) => onChange(next.length === 0 ? ['-'] : next)
  const move = (place: number, step: number) => {
    const next = [...chosen]
    const [one] = next.splice(place, 1)
    if (one !== undefined) next.splice(place + step, 0, one)
    set(next)
  }
  const fields = [
    ...plain.map((path) => ({ path, calls: null })),
    ...(data?.fields ?? []).filter(({ path }) => !path.startsWith('feedback.') && !path.includes(',')),
  ]
  const low = search.trim().toLowerCase()
  const matching = fields.filter(({ path }) => `${path} ${columnName(path)}`.toLowerCase().includes(low))
  return (
    <Dialog
      title="Columns"
      onClose={onClose}
      className="columns"
      acts={
        <button type="button" className="line" onClick={() => onChange([...usualColumns])}>
          As usual
        </button>
      }
    >
      <ol aria-label="Chosen columns">
        {chosen.map((path, place) => (
          <li key={path}>
            <T text={columnName(path)} max={120} />
            <span className="grow" />
            <button
              type="button"
              className="icon"
              aria-label={`Move ${path.slice(0, 60)} left`}
              disabled={place === 0}
              onClick={() => move(place, -1)}
            >
              <Icon name="up" />
            </button>
            <button
              type="button"
              className="icon"
              aria-label={`Move ${path.slice(0, 60)} right`}
              disabled={place === chosen.length - 1}
              onClick={() => move(place, 1)}
            >
              <Icon name="down" />
            </button>
            <button
              type="button"
              className="icon"
              aria-label={`Remove ${path.slice(0, 60)}`}
              onClick={() => set(chosen.filter((one) => one !== path))}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ol>
      <input
        type="search"
        aria-label="Find a field"
        placeholder="Find a field"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {error && <FaultBox error={error} onRetry={() => void refetch()} />}
      <ul aria-label="Fields" aria-busy={data === undefined && error === null}>
        {matching.slice(0, maxListed).map(({ path, calls }) => (
          <li key={path}>
            <label>
              <input
                type="checkbox"
                checked={chosen.includes(path)}
                onChange={(event) =>
                  set(event.target.checked ? [...chosen, path] : chosen.filter((one) => one !== path))
                }
              />
              <T text={columnName(path)} max={160} />
              <span className="grow" />
              {calls !== null && <span className="dim num">{count(calls)}</span>}
            </label>
          </li>
        ))}
      </ul>
      <p className="dim">
        {matching.length > maxListed && `The first ${maxListed} of ${count(matching.length)} fields. `}
        {data && `Of the latest ${count(data.sampled_calls)} calls.`}
      </p>
    </Dialog>
  )
}
