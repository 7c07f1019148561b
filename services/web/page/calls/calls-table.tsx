// The rows of the list of calls, or ghosts of them while the first ones are awaited.
import type { KeyboardEvent } from 'react'
import type { Row } from '../engine/rows.ts'
import { Rows } from '../parts/rows.tsx'
import type { List } from '../parts/use-list.ts'
import { scaled } from '../text-scale.ts'
import type { Columns } from './columns.ts'
import { useCallLayout } from './narrow-row.tsx'
import { CallRow, GhostRow, Head } from './row.tsx'
import type { Marks } from './use-marks.ts'
import type { useShown } from './use-shown.ts'

const ghostRows = 30

type TableProps = {
  projectId: string
  calls: List<Row>
  shown: ReturnType<typeof useShown>
  marks: Marks
  columns: Columns
  /** Columns of the address, which decide the height of narrow rows. */
  cols: string | undefined
  zone: string
  sort: string
  /** No row is drawn yet. */
  showsGhosts: boolean
  onSort(sort: string): void
  onOpen(row: Row | undefined): void
  onValues(row: Row): void
  hrefOf(row: Row): string
}

export function CallsTable({
  projectId,
  calls,
  shown,
  marks,
  columns,
  cols,
  zone,
  sort,
  showsGhosts,
  ...acts
}: TableProps) {
  const { height, layout } = useCallLayout(cols)
  const { previewOf, totalsOf, visible: _, ...values } = shown
  const onKey = (event: KeyboardEvent): boolean => {
    if (event.key !== 'Enter' || (event.target as HTMLElement).closest('button')) return false
    acts.onOpen(calls.rowAt(calls.at))
    return true
  }
  return (
    <>
      {calls.isFirst && (
        <span className="hidden" role="status">
          Loading calls
        </span>
      )}
      <Rows
        isMain
        label="Calls"
        count={showsGhosts ? ghostRows : calls.count}
        height={height}
        at={showsGhosts ? -1 : calls.at}
        onAt={calls.onAt}
        onRange={calls.onRange}
        onKey={onKey}
        className={`${layout}${calls.isLoading && !calls.isFirst ? 'pale' : ''}`}
        headHeight={scaled(28) + 1}
        head={<Head columns={columns} sort={sort} onSort={acts.onSort} />}
        render={(index, isAt) => {
          const row = showsGhosts ? undefined : calls.rowAt(index)
          if (row === undefined) return <GhostRow height={height} index={index} columns={columns} />
          return (
            <div
              role="presentation"
              onClick={(event) => {
                const link = (event.target as HTMLElement).closest('a')
                if (link === null || event.metaKey || event.ctrlKey || event.shiftKey) return
                event.preventDefault()
                acts.onOpen(row)
              }}
            >
              <CallRow
                {...{ projectId, row, index, isAt, zone, height, columns, ...values }}
                totals={totalsOf(row.traceId)}
                isMarked={marks.ids.has(row.id)}
                onMark={(isRange) => (isRange ? marks.range(index) : marks.toggle(index))}
                onValues={() => acts.onValues(row)}
                preview={previewOf(row)}
                href={acts.hrefOf(row)}
              />
            </div>
          )
        }}
      />
    </>
  )
}
