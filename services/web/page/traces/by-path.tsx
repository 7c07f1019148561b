// The spans of a trace by the path of their names: a line for all calls of one, with what they took together.
import { useMemo } from 'react'
import { count, duration } from '../engine/format.ts'
import { type NamePath, namePaths } from '../engine/name-paths.ts'
import type { Tree } from '../engine/tree.ts'
import { type Column, Grid } from '../parts/grid.tsx'
import { T } from '../parts/text.tsx'
import { useListPlace } from '../parts/use-list.ts'
import { scaled } from '../text-scale.ts'

const maxIndent = 24

/** @param onSpan shows the longest call of a path */
export function ByPath({ tree, onSpan }: { tree: Tree; onSpan(span: number): void }) {
  const { paths, isCut } = useMemo(() => namePaths(tree), [tree])
  const place = useListPlace('')
  const most = Math.max(1, ...paths.filter(({ depth }) => depth === 0).map(({ totalUs }) => totalUs))
  const time = (us: number) => <span title={`${us} µs`}>{duration(us / 1000)}</span>
  const columns: Column<NamePath>[] = [
    {
      head: 'Name',
      width: 'minmax(18rem, 3fr)',
      cell: ({ name, depth }) => (
        <span style={{ paddingLeft: Math.min(depth, maxIndent) * 14 }}>
          <T text={name} max={160} />
        </span>
      ),
    },
    { head: 'Calls', width: '7rem', isNumber: true, cell: ({ calls }) => count(calls) },
    {
      head: 'Errors',
      width: '7rem',
      isNumber: true,
      cell: ({ errors }) => (errors === 0 ? '' : <span className="s-error">{count(errors)}</span>),
    },
    { head: 'Time', width: '9rem', isNumber: true, cell: ({ totalUs }) => time(totalUs) },
    { head: 'Self time', width: '9rem', isNumber: true, cell: ({ ownUs }) => time(ownUs) },
    {
      head: '% of trace',
      width: 'minmax(8rem, 2fr)',
      cell: ({ totalUs, ownUs }) => (
        <span className="share" aria-hidden="true">
          <i style={{ width: `${Math.min(100, (totalUs / most) * 100)}%` }} />
          <b style={{ width: `${Math.min(100, (ownUs / most) * 100)}%` }} />
        </span>
      ),
    },
  ]
  return (
    <>
      <Grid
        label="Spans grouped by path"
        columns={columns}
        items={paths}
        minWidth={560}
        height={scaled(24)}
        place={place}
        onOpen={({ span }) => onSpan(span)}
      />
      {isCut && <p className="notice">Not all paths are shown {count(paths.length)}.</p>}
    </>
  )
}
