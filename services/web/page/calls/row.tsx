// One row of the list of calls, and the head above it.
import { age, bytes, count, duration, moment, money, tokens } from '../engine/format.ts'
import type { Row, Status } from '../engine/rows.ts'
import { plainOf } from '../engine/safe-text.ts'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import type { Cell } from '../worker/main.ts'

export const statusNames: Record<Status, string> = {
  success: 'Success',
  error: 'Error',
  running: 'Running',
  descendant_error: 'Error below',
}

const columns =
  '24px 18px minmax(180px, 1.3fr) 112px 132px minmax(80px, 140px) 104px 72px minmax(160px, 1.6fr) minmax(160px, 1.6fr)'
const tableWidth = 1216

export function Head({ sort, onSort }: { sort: string; onSort(sort: string): void }) {
  const [field, direction] = sort.split(':')
  const sortable = (name: string, label: string, className = '') => (
    <span
      role="columnheader"
      className={className}
      aria-sort={field === name ? (direction === 'asc' ? 'ascending' : 'descending') : 'none'}
    >
      <button
        type="button"
        onClick={() => onSort(`${name}:${field === name && direction === 'desc' ? 'asc' : 'desc'}`)}
      >
        {label}
        {field === name && <Icon name={direction === 'asc' ? 'up' : 'down'} />}
      </button>
    </span>
  )
  return (
    <div role="rowgroup" className="head">
      <div
        role="row"
        aria-rowindex={1}
        className="line-of-cells"
        style={{ gridTemplateColumns: columns, height: 28, minWidth: tableWidth }}
      >
        <span role="columnheader">
          <span className="hidden">Mark</span>
        </span>
        <span role="columnheader">
          <span className="hidden">Status</span>
        </span>
        {sortable('op_name', 'Name')}
        {sortable('started_at', 'Started')}
        {sortable('latency', 'Latency', 'num')}
        <span role="columnheader">Model</span>
        <span role="columnheader" className="num">
          Tokens
        </span>
        <span role="columnheader" className="num">
          Cost
        </span>
        <span role="columnheader">Inputs</span>
        <span role="columnheader">Output</span>
      </div>
    </div>
  )
}

type RowProps = {
  row: Row
  cell: Cell | undefined
  index: number
  isAt: boolean
  isMarked: boolean
  onMark(): void
  zone: string
  longestMs: number
  href: string
  height: number
}

export function CallRow({ row, cell, index, isAt, isMarked, onMark, zone, longestMs, href, height }: RowProps) {
  const share = row.latencyMs === null ? 1 : Math.min(1, row.latencyMs / longestMs)
  const kind = cell?.kind ?? row.kind
  const isTooLarge = cell === undefined && (row.size ?? 0) > 262_144
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isAt}
      className={`row line-of-cells${isAt ? ' at' : ''}${row.status === 'error' ? ' failed' : ''}`}
      style={{ gridTemplateColumns: columns, height, minWidth: tableWidth }}
    >
      <span role="cell" className="mark-cell">
        <label>
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isMarked}
            onChange={onMark}
            aria-label={`Mark ${plainOf(row.name, 60)}`}
          />
        </label>
      </span>
      <span role="cell" className={`s-${row.status}`} title={statusNames[row.status]}>
        <Icon name={row.status} label={statusNames[row.status]} />
      </span>
      <span role="cell" className="name">
        <Icon name={kind} label={kind} className={`k-${kind}`} />
        <a href={href} tabIndex={-1} style={{ color: 'inherit' }}>
          <T text={row.name} />
        </a>
      </span>
      <span
        role="cell"
        className="second num"
        style={{ textAlign: 'left' }}
        title={`${row.startedAt} · ${age(row.startedAt)}`}
      >
        {moment(row.startedAt, zone)}
      </span>
      <span role="cell" className="lat" title={row.latencyMs === null ? 'still running' : `${row.latencyMs} ms`}>
        <i className={row.latencyMs === null ? 'open' : ''} style={{ width: `${Math.max(2, share * 48)}px` }} />
        <span className="num">{row.latencyMs === null ? 'running' : duration(row.latencyMs)}</span>
      </span>
      <span role="cell" className="second">
        {row.model === null ? <span className="dim">–</span> : <T text={row.model} />}
      </span>
      <span
        role="cell"
        className="num second"
        title={row.tokensIn === null ? '' : `${count(row.tokensIn)} in, ${count(row.tokensOut ?? 0)} out`}
      >
        {row.tokensIn === null ? <span className="dim">–</span> : `${tokens(row.tokensIn)}→${tokens(row.tokensOut)}`}
      </span>
      <span role="cell" className="num second" title={row.cost === null ? '' : `$${row.cost}`}>
        {row.cost === null ? <span className="dim">–</span> : money(row.cost)}
      </span>
      <span role="cell" className="second">
        {isTooLarge ? <span className="dim">{bytes(row.size ?? 0)}</span> : <T text={cell?.inputs ?? ''} />}
      </span>
      <span role="cell" className="second">
        {row.exception === null ? (
          <T text={cell?.output ?? ''} />
        ) : (
          <span className="s-error">
            <T text={row.exception.split('\n', 1)[0] ?? ''} />
          </span>
        )}
      </span>
    </div>
  )
}

export function GhostRow({ height, index }: { height: number; index: number }) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="row line-of-cells"
      style={{ gridTemplateColumns: columns, height, minWidth: tableWidth }}
    >
      <span role="cell" />
      <span role="cell" />
      {[70, 80, 60, 40, 50, 40, 90, 80].map((width, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: places of one empty row
        <span key={place} role="cell">
          <div className="ghost" style={{ width: `${width}%` }} />
        </span>
      ))}
    </div>
  )
}
