// One row of the list of calls, and the head above it.
import { lazy, type ReactNode, Suspense } from 'react'
import { type FeedbackItem, summaryOf } from '../engine/feedback.ts'
import { age, bytes, count, duration, moment, plural } from '../engine/format.ts'
import { isContentRef, type MediaSource } from '../engine/media.ts'
import { parsedRef } from '../engine/refs.ts'
import type { Row } from '../engine/rows.ts'
import { plainOf } from '../engine/safe-text.ts'
import { isLonger, outcomeOf, type TotalsOfRow } from '../engine/trace-totals.ts'
import { Icon } from '../parts/icon.tsx'
import { mediaSign, RefLink, RefsInText } from '../parts/ref-link.tsx'
import { LinkedCell } from '../parts/row-link.tsx'
import { T } from '../parts/text.tsx'
import { scaled } from '../text-scale.ts'
import type { Preview } from '../worker/main.ts'
import { type Columns, columnName, headColumns } from './columns.ts'
import type { Cell } from './use-calls.ts'
import { UsedCells } from './used-cells.tsx'

const SmallMedia = lazy(() => import('../lazy-routes.tsx').then(({ SmallMedia }) => ({ default: SmallMedia })))

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

type RowProps = {
  projectId: string
  row: Row
  preview: Preview | undefined
  columns: Columns
  cellOf(id: string, path: string): Cell | null
  /** Undefined while it is on its way. */
  feedbackOf(id: string): FeedbackItem[] | undefined
  /** Of the whole trace, where the row stands for it. */
  totals?: TotalsOfRow
  index: number
  isAt: boolean
  isMarked: boolean
  onMark(isRange: boolean): void
  onValues(): void
  zone: string
  longestMs: number
  href: string
  height: number
}

/** The picture comes with the chunk of those that show media: the list does not wait for it. */
const Small = ({ sign, ...props }: { projectId: string; source: MediaSource; sign: ReactNode }) => (
  <Suspense fallback={sign}>
    <SmallMedia {...props}>{sign}</SmallMedia>
  </Suspense>
)

/** Signs before what is no text: how much an object or list holds, what a medium or a ref is of. */
function CellText({ cell, projectId }: { cell: Cell; projectId: string }) {
  const { type, text, size, is_cut, file } = cell
  if (type === 'array') return <span className="dim">[{text}]</span>
  if (type === 'media') {
    const sign = (
      <span className="second" title={bytes(size)}>
        <Icon name={mediaSign(text)} label="media" /> <T text={text} max={60} />{' '}
        <span className="dim">{bytes(size)}</span>
      </span>
    )
    return file && mediaSign(text) === 'image' ? (
      <Small projectId={projectId} source={{ from: 'file', ...file }} sign={sign} />
    ) : (
      sign
    )
  }
  const ref = type === 'string' && !is_cut ? parsedRef(text) : undefined
  if (ref) {
    const sign = <RefLink text={text} of={ref} tabIndex={-1} />
    return isContentRef(text) && mediaSign(ref.name) === 'image' ? (
      <Small projectId={projectId} source={{ from: 'ref', ref: text, name: ref.name }} sign={sign} />
    ) : (
      sign
    )
  }
  const shown = <T text={is_cut ? `${text}…` : text} />
  if (type === 'object')
    return (
      <>
        <span className="dim">{'{}'} </span>
        {shown}
      </>
    )
  return <span className={type === 'number' ? 'num' : type === 'null' ? 'dim' : ''}>{shown}</span>
}

/** Signs with how many gave them, notes, and the latest of each annotation and score. */
function FeedbackText({ items }: { items: readonly FeedbackItem[] | undefined }) {
  const { reactions, values, notes } = summaryOf(items ?? [])
  const parts = [
    ...reactions.map(([sign, times]) => `${sign} ${count(times)}`),
    ...(notes > 0 ? [`${plural(notes, 'note')}`] : []),
    ...values.map(([name, text]) => `${name}: ${text.slice(0, 60)}`),
  ]
  return parts.length === 0 ? <span className="dim">{items && '–'}</span> : <T text={parts.join(' · ')} />
}

type ShownProps = Pick<RowProps, 'projectId' | 'row' | 'preview' | 'cellOf' | 'feedbackOf'> & { path: string }

function Shown({ projectId, row, preview, cellOf, feedbackOf, path }: ShownProps) {
  if (path === 'size')
    return row.size === null ? (
      <span className="dim">–</span>
    ) : (
      <span title={`${row.size} bytes`}>{bytes(row.size)}</span>
    )
  if (path === 'feedback') return <FeedbackText items={feedbackOf(row.id)} />
  if (path === 'output' && row.exception !== null)
    return (
      <span className="s-error">
        <T text={row.exception.split('\n', 1)[0] ?? ''} />
      </span>
    )
  if (preview !== undefined && (path === 'inputs' || path === 'output')) return <RefsInText text={preview[path]} />
  const cell = cellOf(row.id, path)
  return cell === null ? <span className="dim">–</span> : <CellText cell={cell} projectId={projectId} />
}

export function CallRow({
  projectId,
  row,
  preview,
  columns,
  cellOf,
  feedbackOf,
  totals,
  index,
  isAt,
  isMarked,
  onMark,
  onValues,
  zone,
  longestMs,
  href,
  height,
}: RowProps) {
  const share = row.latencyMs === null ? 1 : Math.min(1, row.latencyMs / longestMs)
  const kind = preview?.kind ?? row.kind
  const outcome = outcomeOf(row, totals)
  const chosen = (paths: readonly string[]) =>
    paths.map((path) => (
      <LinkedCell key={path} href={href} className="second">
        <Shown
          projectId={projectId}
          row={row}
          preview={preview}
          cellOf={cellOf}
          feedbackOf={feedbackOf}
          path={path}
        />{' '}
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
        <span role="cell" className="mark-cell">
          <label>
            <input
              type="checkbox"
              tabIndex={-1}
              checked={isMarked}
              onChange={({ nativeEvent }) => onMark(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
              aria-label={`Mark ${plainOf(row.name, 60)}`}
            />
          </label>
        </span>
        <LinkedCell href={href} className={`s-${outcome.status}`} title={outcome.label}>
          <Icon name={outcome.status} label={outcome.label} />{' '}
        </LinkedCell>
        <span role="cell" className="name own">
          <Icon name={kind} label={kind} className={`k-${kind}`} />
          <a href={href} tabIndex={-1} className="plain">
            <T text={row.name} />
          </a>
          <button
            type="button"
            tabIndex={-1}
            className="of-row"
            aria-label={`Values of ${plainOf(row.name, 60)}`}
            title="Filter by a value of this call (.)"
            onClick={onValues}
          >
            <Icon name="filter" />
          </button>
        </span>
        {chosen(columns.left)}
      </Pinned>
      <LinkedCell
        href={href}
        className="second num"
        style={{ textAlign: 'left' }}
        title={`${row.startedAt} · ${age(row.startedAt)}`}
      >
        {moment(row.startedAt, zone)}{' '}
      </LinkedCell>
      <LinkedCell
        href={href}
        className="lat"
        title={
          row.latencyMs === null
            ? 'still running'
            : `${row.latencyMs} ms${isLonger(row, totals) ? `, the whole trace ${totals.duration_ms} ms` : ''}`
        }
      >
        <i className={row.latencyMs === null ? 'open' : ''} style={{ width: `max(2px, ${share * 4.8}rem)` }} />
        <span className="num">{row.latencyMs === null ? 'running' : duration(row.latencyMs)}</span>{' '}
      </LinkedCell>
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
