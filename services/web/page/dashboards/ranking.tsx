// The greatest groups of a project's calls, each a way to its calls.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useProject } from '../frame/project-page.tsx'
import { T } from '../parts/text.tsx'
import { type Aggregate, figures, numberOr0 } from './figures.ts'
import { CsvButton } from './panel-file.tsx'

/** Errors stand out where there are any. */
const toneOf = (label: string, value: number | null): string => {
  if (label !== 'Errors') return 'num'
  return numberOr0(value) > 0 ? 'num s-error' : 'num dim'
}

type ListProps = {
  title: string
  head: string
  answer: Aggregate | undefined
  /** Which groups are the greatest: `<field>.<as>`. */
  first: string
  nameOf(key: string): string
  query(key: string): string
  range: string
  acts?: ReactNode
}

export function Ranking({ title, head, answer, first, nameOf, query, range, acts }: ListProps) {
  const { entity, project } = useProject()
  const groups = (answer?.groups ?? []).filter(
    ({ keys, is_rest, total }) => !is_rest && keys[0] && numberOr0(total[first]) > 0,
  )
  if (groups.length === 0 && acts === undefined) return null
  const most = Math.max(...groups.map(({ total }) => numberOr0(total[first])))
  return (
    <section className="ranking" aria-label={title}>
      <header>
        <h2>
          <T text={title} max={100} />
        </h2>
        <span className="second" />
        <CsvButton
          {...{ title, columns: [head, ...figures.map(({ label }) => label)] }}
          rows={() => groups.map((group) => [group.keys[0] ?? '', ...figures.map(({ of }) => of(group))])}
        />
        {acts}
      </header>
      <div className="numbers" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {[head, ...figures.map(({ label }) => label)].map((one) => (
                <th key={one} scope="col">
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups
              .map((group) => [group.keys[0] ?? '', group] as const)
              .map(([name, group]) => (
                <tr key={name}>
                  <th scope="row">
                    <Link
                      to="/p/$entity/$project/calls"
                      params={{ entity, project }}
                      search={{ q: query(name), view: 'all', ...(range !== 'all' && { range }) }}
                    >
                      <T text={nameOf(name)} max={80} />
                    </Link>
                    <i style={{ width: `${(numberOr0(group.total[first]) / most) * 100}%` }} />
                  </th>
                  {figures.map(({ label, shownAs, of }) => (
                    <td key={label} className={toneOf(label, of(group))}>
                      {shownAs(of(group))}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
