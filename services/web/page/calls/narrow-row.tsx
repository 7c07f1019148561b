// One row of the list of calls in a narrow window: name and time, what came out, latency and cost, then the chosen columns.

import { columnsOf, usualColumns } from '../engine/calls-search.ts'
import { outcomeOf } from '../engine/trace-totals.ts'
import { heightOfLines, NarrowLabel, NarrowLine } from '../parts/narrow-lines.tsx'
import { LinkedCell } from '../parts/row-link.tsx'
import { useRowHeight } from '../preferences.ts'
import { useIsWindow } from '../window-width.ts'
import { columnName } from './columns.ts'
import { HeadCells, LatencyCell, type RowProps, ShownField, StartedCell } from './row-cells.tsx'
import { CostCell } from './used-cells.tsx'

/** Columns that somebody chose beside the usual ones: the second line has what is usual. */
const moreOf = (columns: readonly string[]): string[] =>
  columns.filter((path) => path !== '-' && !usualColumns.includes(path))

/** How high a row of calls is, and the class of their list. */
export function useCallLayout(cols: string | undefined): { height: number; layout: string } {
  const height = useRowHeight()
  const isNarrow = useIsWindow('narrow')
  if (!isNarrow) return { height, layout: '' }
  return { height: heightOfLines(height, moreOf(columnsOf(cols)).length === 0 ? 2 : 3), layout: 'narrow ' }
}

export function NarrowCallRow(props: RowProps) {
  const { row, preview, columns, totals, index, isAt, href, height } = props
  const { left, between, right } = columns
  const outcome = outcomeOf(row, totals)
  // What has not come out yet, or never will, began with something.
  const isEmpty = typeof preview === 'object' && preview?.output === ''
  const path = row.exception === null && isEmpty ? 'inputs' : 'output'
  const more = moreOf([...left, ...between, ...right])
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isAt}
      className={`row narrow-row${isAt ? ' at' : ''}${row.status === 'error' ? ' failed' : ''}`}
      style={{ height }}
    >
      <NarrowLine>
        <HeadCells {...props} />
        <StartedCell {...props} />
      </NarrowLine>
      <NarrowLine>
        <LinkedCell href={href} className="second grows">
          {outcome.status === 'descendant_error' && <span className="s-descendant_error">{outcome.label} · </span>}
          <ShownField {...props} path={path} />{' '}
        </LinkedCell>
        <LatencyCell {...props} />
        <CostCell ofTraces={columns.ofTraces} row={row} totals={totals} href={href} />
      </NarrowLine>
      {more.length > 0 && (
        <NarrowLine>
          {more.map((one) => (
            <LinkedCell key={one} href={href} className="second grows">
              <NarrowLabel text={columnName(one)} />
              <ShownField {...props} path={one} />{' '}
            </LinkedCell>
          ))}
        </NarrowLine>
      )}
    </div>
  )
}

export const NarrowGhost = ({ height, index }: { height: number; index: number }) => (
  <div role="row" aria-rowindex={index + 2} className="row narrow-row" style={{ height }}>
    {[60, 85].map((width) => (
      <NarrowLine key={width}>
        <span role="cell" className="grows">
          <div className="ghost" style={{ width: `${width}%` }} />
        </span>
      </NarrowLine>
    ))}
  </div>
)
