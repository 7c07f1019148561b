// Bars above and below the rows of the list of calls: the filter, actions and counters.
import { lazy, Suspense } from 'react'
import { type CallsSearch, callsSearch, type Parsed } from '../engine/calls-search.ts'
import { count } from '../engine/format.ts'
import { Bar } from '../parts/bar.tsx'
import { Button, IconButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { RangeMenu } from '../parts/range-menu.tsx'
import { Seg } from '../parts/seg.tsx'
import { maxNew } from '../parts/use-live.ts'
import { ViewsMenu } from '../views/views-menu.tsx'
import { FilterLine, type Refusal } from './filter-line.tsx'
import type { OpenedDialog } from './list-dialogs.tsx'
import type { MarkBarProps } from './mark-bar.tsx'

const Views = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.Views })))

const MarkBar = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.MarkBar })))

type BarProps = {
  projectId: string
  search: CallsSearch
  zone: string
  parsed: Parsed
  refusal: Refusal | undefined
  mayExport: boolean
  onChange(next: CallsSearch): void
  onOpen(dialog: OpenedDialog): void
  onRefresh(): void
}

export function ListBar({
  projectId,
  search,
  zone,
  parsed,
  refusal,
  mayExport,
  onChange,
  onOpen,
  onRefresh,
}: BarProps) {
  return (
    <Bar>
      <FilterLine
        project={projectId}
        q={search.q ?? ''}
        parsed={parsed}
        refusal={refusal}
        onChange={(q) => onChange({ q })}
      />
      <Seg
        label="Which calls"
        value={search.view === 'all' ? 'all' : 'traces'}
        of={[
          ['traces', 'Traces'],
          ['all', 'All calls'],
        ]}
        onValue={(view) => onChange({ view: view === 'all' ? view : undefined })}
      />
      <RangeMenu range={search.range} zone={zone} onChange={(next) => onChange({ range: next ?? 'all' })} />
      <Button
        aria-pressed={search.live === '1'}
        title="Live updates (l)"
        onClick={() => onChange({ live: search.live ? undefined : '1' })}
      >
        Live
      </Button>
      <ViewsMenu
        projectId={projectId}
        search={search}
        Views={Views}
        page="calls"
        onOpen={(found) => {
          const { q, view, range, sort, cols, left, right, saved } = callsSearch(found)
          onChange({ q, view, range, sort, cols, left, right, saved })
        }}
      />
      <Button onClick={() => onOpen('columns')}>
        <Icon name="columns" /> Columns
      </Button>
      <Button aria-label="Export the list" disabled={!mayExport} onClick={() => onOpen('export')}>
        Export
      </Button>
      <IconButton icon="refresh" className="icon line" label="Refresh" title="Refresh" onClick={onRefresh} />
    </Bar>
  )
}

export const MarkedBar = (props: MarkBarProps) =>
  (props.marks.ids.size > 0 || props.marks.fault !== undefined) && (
    <Suspense fallback={null}>
      <MarkBar {...props} />
    </Suspense>
  )

type FootProps = {
  range: { from: number; to: number }
  /** Rows that there are, as far as they are known. */
  rows: number
  /** Undefined while they are counted, null where there are too many to count. */
  total: number | undefined | null
  /** New calls that wait to be shown. */
  waiting: number
  onNew(): void
}

export const ListFoot = ({ range, rows, total, waiting, onNew }: FootProps) => (
  <footer className="foot" role="status">
    <span className="num">
      {rows > 0 && (
        <>
          {count(Math.min(range.from + 1, rows))}–{count(Math.min(range.to, rows))} of{' '}
          {total === undefined ? '…' : total === null ? '10,000+' : count(total)}
        </>
      )}
    </span>
    <span className="grow" />
    {waiting > 0 && <Button onClick={onNew}>{waiting > maxNew ? `${maxNew}+` : waiting} new</Button>}
    <span className="dim">
      <kbd>j</kbd> <kbd>k</kbd> move · <kbd>Enter</kbd> open · <kbd>.</kbd> values · <kbd>?</kbd> keys
    </span>
  </footer>
)
