// A table of short texts in a box that scrolls: previews of rows, and rows with what became of them.
import type { ReactNode } from 'react'
import { plainText } from '../engine/json-texts.ts'
import { T } from './text.tsx'
import './short-table.css'

/** A JSON value as people read it, in one line. */
export const ShortText = ({ json = '""', max = 60 }: { json?: string | undefined; max?: number }) => (
  <T text={plainText(json.slice(0, 6 * max + 40)).replaceAll('\n', ' ')} max={max} />
)

type Props = {
  label: string
  /** Label of the box, for readers who scroll it by keys. */
  about: string
  heads: readonly { key: string; name: string }[]
  /** Cell before each row, as its head. */
  firstOf?: (row: number) => ReactNode
  /** A cell for each head. */
  rows: readonly (readonly ReactNode[])[]
}

export const ShortTable = ({ label, about, heads, firstOf, rows }: Props) => (
  <div className="scroll short-table" tabIndex={0} role="group" aria-label={about}>
    <table aria-label={label}>
      <thead>
        <tr>
          {firstOf && <th scope="col">#</th>}
          {heads.map(({ key, name }) => (
            <th key={key} scope="col">
              <T text={name} max={40} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ids
          <tr key={row}>
            {firstOf && <th scope="row">{firstOf(row)}</th>}
            {heads.map(({ key }, place) => (
              <td key={key}>{cells[place]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
