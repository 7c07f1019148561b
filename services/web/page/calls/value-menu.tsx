// The values of a call as filters: only calls with one, or without it.
import { type Literal, literalText } from '../engine/query-text.ts'
import { opNameOf, type Row } from '../engine/rows.ts'
import { Dialog } from '../parts/dialog.tsx'
import { T } from '../parts/text.tsx'
import { columnName } from './row.tsx'
import { parsed } from './search.ts'
import type { Cell } from './use-calls.ts'

type Value = { label: string; field: string; value: Literal; shown: string }

/** Of longer texts no line of a filter is made. */
const maxText = 400

function literalOf({ type, text, is_cut }: Cell): Literal | undefined {
  if (is_cut || text.length > maxText) return undefined
  if (type === 'string') return text
  if (type === 'bool') return text === 'true'
  const number = Number(text)
  // Other numbers are not what JavaScript makes of them.
  return type === 'number' && String(number) === text ? number : undefined
}

function valuesOf(row: Row, columns: readonly string[], cellOf: (id: string, path: string) => Cell | null): Value[] {
  const plain: [label: string, field: string, value: string | null][] = [
    ['Operation', 'op', opNameOf(row.opName)],
    ['Status', 'status', row.status],
    ['User', 'user', row.userId],
    ['Thread', 'thread', row.threadId],
    ['Trace', 'trace', row.traceId],
  ]
  return [
    ...plain.flatMap(([label, field, value]) => (value === null ? [] : [{ label, field, value, shown: value }])),
    ...columns.flatMap((path): Value[] => {
      const cell = /^(?:inputs|output|attributes|summary)\b/.test(path) ? cellOf(row.id, path) : null
      const value = cell === null ? undefined : literalOf(cell)
      return value === undefined || cell === null
        ? []
        : [{ label: columnName(path), field: path, value, shown: cell.text }]
    }),
  ]
}

/** The line of a filter with one more condition. */
function narrowedLine(q: string, term: string): string {
  const { expression } = parsed(q)
  if (expression.length === 0 || q.trim() === '') return term
  return `${expression.length > 1 ? `(${q.trim()})` : q.trim()} ${term}`
}

type MenuProps = {
  row: Row
  columns: readonly string[]
  cellOf(id: string, path: string): Cell | null
  /** The filter of the list. */
  q: string
  onChange(q: string): void
  onClose(): void
}

export function ValuesOfRow({ row, columns, cellOf, q, onChange, onClose }: MenuProps) {
  const values = valuesOf(row, columns, cellOf)
  const pick = (term: string) => {
    onClose()
    onChange(narrowedLine(q, term))
  }
  return (
    <Dialog title="Filter by a value of this call" onClose={onClose}>
      <ul className="values">
        {values.map(({ label, field, value, shown }) => {
          const term = `${field}:${literalText(value)}`
          return (
            <li key={field}>
              <span className="second">
                <T text={label} max={60} />
              </span>
              <span className="value">
                <T text={shown} max={120} />
              </span>
              <button
                type="button"
                className="line"
                aria-label={`Only ${label.slice(0, 60)}`}
                onClick={() => pick(term)}
              >
                Only
              </button>
              <button
                type="button"
                className="line"
                aria-label={`Without ${label.slice(0, 60)}`}
                onClick={() => pick(`-${term}`)}
              >
                Without
              </button>
            </li>
          )
        })}
      </ul>
    </Dialog>
  )
}
