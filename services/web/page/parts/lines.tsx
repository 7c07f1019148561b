// Two texts as one list of lines, with those that were taken out and put in.
import { count } from '../engine/format.ts'
import type { Line, LineDifferences } from '../engine/line-differences.ts'
import { T } from './text.tsx'
import './lines.css'

/** Characters of a line that show. */
const maxShown = 2_000

const signs = { same: '', removed: '−', added: '+' } as const
const said = { same: '', removed: 'only in A', added: 'only in B' } as const
const linesOf = (number: number): string => (number === 1 ? 'line' : 'lines')

function LineRow({ line, isFirst }: { line: Line; isFirst: boolean }) {
  if (line.kind === 'folded')
    return (
      <tr className="folded">
        <td colSpan={4}>
          {count(line.count)} equal {linesOf(line.count)}
        </td>
      </tr>
    )
  return (
    <tr className={line.kind} {...(isFirst && { tabIndex: -1 })}>
      <td className="num">{'a' in line && count(line.a)}</td>
      <td className="num">{'b' in line && count(line.b)}</td>
      <td>
        {signs[line.kind]}
        <span className="hidden">{said[line.kind]}</span>
      </td>
      <td>
        <T text={line.text} max={maxShown} />
      </td>
    </tr>
  )
}

/** The first line of each change can be focused. */
export function Lines({ of, label }: { of: LineDifferences; label: string }) {
  const { lines, removed, added, isCut } = of
  const isChange = (line: Line | undefined) => line?.kind === 'removed' || line?.kind === 'added'
  if (removed + added === 0)
    return (
      <p className="second" role="status">
        The same lines
      </p>
    )
  return (
    <>
      <p className="second" role="status">
        {count(removed)} {linesOf(removed)} only in A, {count(added)} only in B
        {isCut && `; showing the first ${count(lines.length)}`}
      </p>
      <table className="lines" aria-label={label}>
        <colgroup>
          <col className="of-number" />
          <col className="of-number" />
          <col className="of-sign" />
          <col />
        </colgroup>
        <thead className="hidden">
          <tr>
            <th scope="col">Line of A</th>
            <th scope="col">Line of B</th>
            <th scope="col">Which</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, place) => (
            <LineRow
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of one comparison never move
              key={place}
              line={line}
              isFirst={isChange(line) && !isChange(lines[place - 1])}
            />
          ))}
        </tbody>
      </table>
    </>
  )
}
