// The greatest groups of a project's calls, each a way to its calls.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { rankedGroups } from '../engine/boards.ts'
import type { RowsOf } from '../engine/filter-fields.ts'
import { useProject } from '../parts/project.ts'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { type Aggregate, counted, countedText, numberOr0, rankedFigures, type Tile } from './figures.ts'
import { CsvButton } from './panel-file.tsx'

type Group = Aggregate['groups'][number]

/** Errors stand out where there are any. */
const toneOf = ({ isOfErrors, of }: Tile, group: Group): string => {
  if (!isOfErrors) return 'num'
  return numberOr0(of(group)) > 0 ? 'num s-error' : 'num dim'
}

type ListProps = {
  title: string
  /** Heads of the keys of a group, one or two. */
  heads: readonly string[]
  answer: Aggregate | undefined
  /** The rows that are counted. */
  rows: RowsOf
  /** The metric by which groups are ranked: `<field>.<as>`. */
  first: string
  nameOf(key: string, place: number): string
  /** A filter that finds the calls of a group; undefined where there is none. */
  query(keys: readonly string[]): string | undefined
  range: string
  /** View of the calls that the links show. */
  view: 'all' | undefined
  acts?: ReactNode
  hidesEmpty?: boolean | undefined
}

export function Ranking(props: ListProps) {
  const { title, heads, answer, rows, first, nameOf, query, range, view, acts, hidesEmpty } = props
  const figures = rankedFigures(counted[rows])
  const { entity, project } = useProject()
  // One group more is asked for, because calls without a value are one of them.
  const groups = (answer?.groups ?? [])
    .filter(({ keys, is_rest, total }) => !is_rest && keys[0] && numberOr0(total[first]) > 0)
    .slice(0, rankedGroups)
  if (groups.length === 0 && hidesEmpty) return null
  const most = Math.max(...groups.map(({ total }) => numberOr0(total[first])))
  const columns: ShortColumn<Group>[] = [
    {
      head: heads[0] ?? '',
      isRowHead: true,
      cell({ keys, total }) {
        const q = query(keys)
        const shown = <T text={nameOf(keys[0] ?? '', 0)} max={80} />
        return (
          <>
            {q === undefined ? (
              shown
            ) : (
              <Link
                to="/p/$entity/$project/calls"
                params={{ entity, project }}
                search={{ q, ...(view && { view }), ...(range !== 'all' && { range }) }}
              >
                {shown}
              </Link>
            )}
            <i style={{ width: `${(numberOr0(total[first]) / most) * 100}%` }} />
          </>
        )
      },
    },
    ...heads.slice(1).map((head) => ({
      head,
      className: () => 'within',
      cell({ keys }: Group) {
        const within = nameOf(keys[1] ?? '', 1)
        return within === '' ? <span className="dim">–</span> : <T text={within} max={80} />
      },
    })),
    ...figures.map((figure) => ({
      head: figure.label,
      className: (group: Group) => toneOf(figure, group),
      cell: (group: Group) => figure.shownAs(figure.of(group)),
    })),
  ]
  return (
    <section className="ranking" aria-label={title}>
      <header>
        <h2>
          <T text={title} max={100} />
        </h2>
        <span className="second">{countedText(rows)}</span>
        <CsvButton
          title={title}
          columns={[...heads, ...figures.map(({ label }) => label)]}
          rows={() => groups.map((group) => [...group.keys, ...figures.map(({ of }) => of(group))])}
        />
        {acts}
      </header>
      <div className="numbers" tabIndex={0}>
        <ShortTable columns={columns} items={groups} idOf={({ keys }) => keys.join('\0')} />
        {answer !== undefined && groups.length === 0 && <p className="dim">No data in this time range</p>}
      </div>
    </section>
  )
}
