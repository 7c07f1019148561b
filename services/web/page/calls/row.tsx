// One row of the list of calls, and the head above it.
import type { ReactNode } from 'react'
import { Icon } from '../parts/icon.tsx'
import { LinkedCell } from '../parts/row-link.tsx'
import { T } from '../parts/text.tsx'
import { scaled } from '../text-scale.ts'
import { useIsWindow } from '../window-width.ts'
import { type Columns, columnName, headColumns } from './columns.ts'
import { NarrowCallRow, NarrowGhost } from './narrow-row.tsx'
import { HeadCells, LatencyCell, type RowProps, ShownField, StartedCell } from './row-cells.tsx'
import { UsedCells } from './used-cells.tsx'

/** Cells that stay in view while the others scroll; without a pinned column among them they scroll as well. */
function Pinned({ side, columns, children }: { side: 'left' | 'right'; columns: Columns; children: ReactNode }) {
  const pinned = columns[side].length
  if (pinned === 0) return children
  const gridColumn = `span ${side === 'left' ? pinned + headColumns : pinned}`
  return (
    <div role="presentation" className={`pinned ${side}`} style={{ gridColumn }}>
      {children}
    </div>
  )
}

/** Of what calls used, and of whole traces, by which a list of them can be ordered. */
const callHeads = [
  ['Model', ''],
  ['Tokens', 'num'],
  ['Cost', 'num'],
] as const
const traceHeads = [
  ['model', 'Model', ''],
  ['tokens', 'Tokens', 'num'],
  ['cost', 'Cost', 'num'],
  ['duration', 'Duration', 'num'],
  ['errors', 'Errors', 'num'],
  ['spans', 'Spans', 'num'],
] as const

type HeadProps = { sort: string; columns: Columns; onSort(sort: string): void }

export function Head({ sort, columns, onSort }: HeadProps) {
  const [field, direction] = sort.split(':')
  const sortable = (name: string, label: string, className = '') => (
    <span
      key={name}
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
  const chosen = (paths: readonly string[]) =>
    paths.map((path) => (
      <span key={path} role="columnheader">
        <T text={columnName(path)} max={80} />
      </span>
    ))
  return (
    <div role="rowgroup" className="head">
      <div role="row" aria-rowindex={1} className="line-of-cells" style={{ ...columns.style, height: scaled(28) }}>
        <Pinned side="left" columns={columns}>
          <span role="columnheader">
            <span className="hidden">Mark</span>
          </span>
          <span role="columnheader">
            <span className="hidden">Status</span>
          </span>
          {sortable('op_name', 'Name')}
          {chosen(columns.left)}
        </Pinned>
        {sortable('started_at', 'Started')}
        {sortable('latency', 'Latency', 'num')}
        {columns.ofTraces
          ? traceHeads.map(([name, label, className]) => sortable(name, label, className))
          : callHeads.map(([label, className]) => (
              <span key={label} role="columnheader" className={className}>
                {label}
              </span>
            ))}
        {chosen(columns.between)}
        <Pinned side="right" columns={columns}>
          {chosen(columns.right)}
        </Pinned>
      </div>
    </div>
  )
}

export function CallRow(props: RowProps) {
  const isNarrow = useIsWindow('narrow')
  return isNarrow ? <NarrowCallRow {...props} /> : <WideCallRow {...props} />
}

function WideCallRow(props: RowProps) {
  const { row, columns, totals, index, isAt, href, height } = props
  const chosen = (paths: readonly string[]) =>
    paths.map((path) => (
      <LinkedCell key={path} href={href} className="second">
        <ShownField {...props} path={path} />{' '}
      </LinkedCell>
    ))
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isAt}
      className={`row line-of-cells${isAt ? ' at' : ''}${row.status === 'error' ? ' failed' : ''}`}
      style={{ ...columns.style, height }}
    >
      <Pinned side="left" columns={columns}>
        <HeadCells {...props} />
        {chosen(columns.left)}
      </Pinned>
      <StartedCell {...props} />
      <LatencyCell {...props} />
      <UsedCells ofTraces={columns.ofTraces} row={row} totals={totals} href={href} />
      {chosen(columns.between)}
      <Pinned side="right" columns={columns}>
        {chosen(columns.right)}
      </Pinned>
    </div>
  )
}

type GhostProps = { height: number; index: number; columns: Columns }

export function GhostRow({ height, index, columns }: GhostProps) {
  const isNarrow = useIsWindow('narrow')
  if (isNarrow) return <NarrowGhost height={height} index={index} />
  const ghosts = (widths: readonly number[]) =>
    widths.map((width, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: places of one empty row
      <span key={place} role="cell">
        <div className="ghost" style={{ width: `${width}%` }} />
      </span>
    ))
  return (
    <div role="row" aria-rowindex={index + 2} className="row line-of-cells" style={{ ...columns.style, height }}>
      <Pinned side="left" columns={columns}>
        <span role="cell" />
        <span role="cell" />
        {ghosts([70, ...columns.left.map(() => 85)])}
      </Pinned>
      {ghosts([80, 60, 40, 50, 40, ...(columns.ofTraces ? [40, 40, 40] : []), ...columns.between.map(() => 85)])}
      <Pinned side="right" columns={columns}>
        {ghosts(columns.right.map(() => 85))}
      </Pinned>
    </div>
  )
}
