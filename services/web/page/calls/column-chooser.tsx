// Which columns stand beside the fixed ones: fields of the latest calls by how many have them, in the reader's order, pinned
// or not, and how wide.
import { useState } from 'react'
import { type CallsSearch, usualColumns } from '../engine/calls-search.ts'
import { count, plural } from '../engine/format.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Input } from '../parts/input.tsx'
import { useReorder } from '../parts/reorder.ts'
import { Select } from '../parts/select.tsx'
import { T } from '../parts/text.tsx'
import {
  type Columns,
  columnName,
  columnNamed,
  columnsOffered,
  isOneColumn,
  type Width,
  type Widths,
  widthNames,
  withWidth,
} from './columns.ts'
import { useFields } from './use-fields.ts'

const maxListed = 200

const sides = { '': 'Not pinned', left: 'Left', right: 'Right' } as const
type Side = keyof typeof sides

type ChooserProps = {
  project: string
  columns: readonly string[]
  placed: Pick<Columns, 'left' | 'right'>
  widths: Widths
  onChange(next: Pick<CallsSearch, 'cols' | 'left' | 'right'>): void
  onWidths(widths: Widths): void
  onClose(): void
}

export function ColumnChooser({ project, columns, placed, widths, onChange, onWidths, onClose }: ChooserProps) {
  const [search, setSearch] = useState('')
  const { data, error, refetch } = useFields(project, '', true)
  const spans = data?.span_attributes?.sampled_calls ?? 0
  const chosen = columns.filter((path) => path !== '-')
  const set = (next: string[]) => onChange({ cols: next.length === 0 ? '-' : next.join() })
  const pin = (path: string, side: Side) => {
    const without = (paths: readonly string[]) => paths.filter((one) => one !== path)
    onChange({
      left: [...without(placed.left), ...(side === 'left' ? [path] : [])].join(),
      right: [...without(placed.right), ...(side === 'right' ? [path] : [])].join(),
    })
  }
  const move = (from: number, to: number) => {
    const next = [...chosen]
    const [one] = next.splice(from, 1)
    if (one !== undefined) next.splice(to, 0, one)
    set(next)
  }
  const reordered = useReorder(move)
  const low = search.trim().toLowerCase()
  const found = columnsOffered(data).filter(({ path }) => `${path} ${columnName(path)}`.toLowerCase().includes(low))
  // A field that none of the latest calls has is a column by its name.
  const named = columnNamed(search.trim())
  const isNew = named !== undefined && !found.some(({ path }) => isOneColumn(path, named))
  const matching = isNew ? [{ path: named, calls: null }, ...found] : found
  return (
    <Dialog
      title="Columns"
      onClose={onClose}
      className="columns"
      acts={
        <Button
          onClick={() => {
            onWidths(chosen.reduce((kept, path) => withWidth(kept, path, 'usual'), widths))
            onChange({ cols: usualColumns.join(), left: '', right: '' })
          }}
        >
          Reset
        </Button>
      }
    >
      <ol aria-label="Chosen columns">
        {chosen.map((path, place) => (
          <li key={path} {...reordered(place)}>
            <T text={columnName(path)} max={120} />
            <span className="grow" />
            <Select
              aria-label={`Width of ${path.slice(0, 60)}`}
              value={widths.get(path) ?? 'usual'}
              of={widthNames}
              onValue={(value) => onWidths(withWidth(widths, path, value as Width))}
            />
            <Select
              aria-label={`Pin ${path.slice(0, 60)}`}
              value={placed.left.includes(path) ? 'left' : placed.right.includes(path) ? 'right' : ''}
              of={sides}
              onValue={(value) => pin(path, value as Side)}
            />
            <IconButton
              icon="up"
              label={`Move ${path.slice(0, 60)} left`}
              disabled={place === 0}
              onClick={() => move(place, place - 1)}
            />
            <IconButton
              icon="down"
              label={`Move ${path.slice(0, 60)} right`}
              disabled={place === chosen.length - 1}
              onClick={() => move(place, place + 1)}
            />
            <IconButton
              icon="close"
              label={`Remove ${path.slice(0, 60)}`}
              onClick={() => set(chosen.filter((one) => one !== path))}
            />
          </li>
        ))}
      </ol>
      <Input type="search" aria-label="Find a field" placeholder="Find a field" value={search} onText={setSearch} />
      {error && <FaultBox error={error} onRetry={() => void refetch()} />}
      <ul aria-label="Fields" aria-busy={data === undefined && error === null}>
        {matching.slice(0, maxListed).map(({ path, calls }) => (
          <li key={path}>
            <label>
              <input
                type="checkbox"
                checked={chosen.some((one) => isOneColumn(one, path))}
                onChange={(event) =>
                  set(event.target.checked ? [...chosen, path] : chosen.filter((one) => !isOneColumn(one, path)))
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
        {data &&
          `From the latest ${plural(data.sampled_calls, 'call')}${spans ? ` and ${plural(spans, 'span')}` : ''}.`}
      </p>
    </Dialog>
  )
}
