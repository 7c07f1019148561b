// What the cells of a call say, in the rows of wide windows and of narrow ones.
import { lazy, type ReactNode, Suspense } from 'react'
import { type FeedbackItem, summaryOf } from '../engine/feedback.ts'
import { age, bytes, count, duration, moment, plural } from '../engine/format.ts'
import { latencyBar } from '../engine/latency-bars.ts'
import { isContentRef, type MediaSource } from '../engine/media.ts'
import { parsedRef } from '../engine/refs.ts'
import type { ValueOfRow } from '../engine/row-values.ts'
import type { Row } from '../engine/rows.ts'
import { plainOf } from '../engine/safe-text.ts'
import { isLonger, outcomeOf, type TotalsOfRow } from '../engine/trace-totals.ts'
import { IconButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { mediaSign, RefLink, RefsInText } from '../parts/ref-link.tsx'
import { LinkedCell } from '../parts/row-link.tsx'
import { T } from '../parts/text.tsx'
import type { Preview } from '../worker/main.ts'
import type { Columns } from './columns.ts'
import type { Cell } from './use-calls.ts'
import { Unknown } from './used-cells.tsx'

const SmallMedia = lazy(() => import('../lazy-routes.tsx').then(({ SmallMedia }) => ({ default: SmallMedia })))

export type RowProps = {
  projectId: string
  row: Row
  preview: ValueOfRow<Preview>
  columns: Columns
  cellOf(id: string, path: string): ValueOfRow<Cell>
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

type FieldProps = Pick<RowProps, 'projectId' | 'row' | 'preview' | 'cellOf' | 'feedbackOf'> & { path: string }

export function ShownField({ projectId, row, preview, cellOf, feedbackOf, path }: FieldProps) {
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
  // Large calls have cells in place of a preview.
  if (preview !== null && (path === 'inputs' || path === 'output'))
    return typeof preview === 'object' ? <RefsInText text={preview[path]} /> : <Unknown why={preview} />
  const cell = cellOf(row.id, path)
  if (cell === null) return <span className="dim">–</span>
  return typeof cell === 'object' ? <CellText cell={cell} projectId={projectId} /> : <Unknown why={cell} />
}

/** Mark, status and name, which every row begins with. */
export function HeadCells({ row, preview, totals, isMarked, onMark, onValues, href }: RowProps) {
  const kind = typeof preview === 'object' && preview !== null ? preview.kind : row.kind
  const outcome = outcomeOf(row, totals)
  return (
    <>
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
        <IconButton
          icon="filter"
          tabIndex={-1}
          className="of-row"
          label={`Values of ${plainOf(row.name, 60)}`}
          title="Filter by a value of this call (.)"
          onClick={onValues}
        />
      </span>
    </>
  )
}

export function StartedCell({ row, href, zone }: RowProps) {
  return (
    <LinkedCell
      href={href}
      className="second num"
      style={{ textAlign: 'left' }}
      title={`${row.startedAt} · ${age(row.startedAt)}`}
    >
      {moment(row.startedAt, zone)}{' '}
    </LinkedCell>
  )
}

export function LatencyCell({ row, href, totals, longestMs }: RowProps) {
  const { form, share } = latencyBar(row.latencyMs, longestMs)
  return (
    <LinkedCell
      href={href}
      className="lat"
      title={
        row.latencyMs === null
          ? 'still running'
          : `${row.latencyMs} ms${isLonger(row, totals) ? `, the whole trace ${totals.duration_ms} ms` : ''}`
      }
    >
      <i className={form} style={{ width: `max(2px, ${share * 4.8}rem)` }} />
      <span className="num">{row.latencyMs === null ? 'running' : duration(row.latencyMs)}</span>{' '}
    </LinkedCell>
  )
}
