// The table of short lists: all rows at once, in columns of given widths that become cards in narrow windows, or as wide
// as their texts.
import type { CSSProperties, ReactNode } from 'react'
import { plainText } from '../engine/json-texts.ts'
import { FaultBox } from './fault.tsx'
import type { BasicColumn } from './grid.tsx'
import { T } from './text.tsx'
import type { List } from './use-list.ts'
import './short-table.css'

/** A JSON value as people read it, in one line. */
export const ShortText = ({ json = '""', max = 60 }: { json?: string | undefined; max?: number }) => (
  <T text={plainText(json.slice(0, 6 * max + 40)).replaceAll('\n', ' ')} max={max} />
)

export type ShortColumn<Item> = BasicColumn<Item> & {
  /** A track of a grid. */
  width?: string
  /** Its cells are the heads of their rows. */
  isRowHead?: boolean
  className?(item: Item): string
  title?(item: Item): string | undefined
}

type ShortTableProps<Item> = {
  label?: string
  columns: readonly ShortColumn<Item>[]
  list?: Pick<List<Item>, 'items' | 'error' | 'refetch' | 'isOld'>
  /** Without a list, or those of it that show. Undefined while they are on their way. */
  items?: readonly Item[] | undefined
  idOf(item: Item, index: number): string
  rowClass?(item: Item): string
  /** Stands there for no rows. */
  none?: ReactNode
  /** The heads are read out, and not seen. */
  hidesHeads?: boolean
  /** Rows can have the focus. */
  hasFocus?: boolean
  className?: string
}

export function ShortTable<Item>(props: ShortTableProps<Item>) {
  const { label, columns, list, items = list?.items, idOf, rowClass, none, hasFocus, className = '' } = props
  if (list?.error && list.items === undefined) return <FaultBox error={list.error} onRetry={list.refetch} />
  if (items?.length === 0 && none !== undefined && !list?.isOld) return <div className="none second">{none}</div>
  const isSheet = columns.some(({ width }) => width !== undefined)
  const style = isSheet ? ({ '--tracks': columns.map(({ width }) => width).join(' ') } as CSSProperties) : {}
  return (
    <table
      aria-label={label}
      aria-busy={list?.isOld ?? items === undefined}
      className={`${isSheet ? 'sheet ' : ''}${list?.isOld ? 'pale ' : ''}${className}`}
      style={style}
    >
      <thead className={props.hidesHeads ? 'hidden' : ''}>
        <tr className={isSheet ? 'sheet-row head' : ''}>
          {columns.map(({ head, key = head, shownHead = head, isNumber }) => (
            <th key={key} scope="col" className={isNumber ? 'num' : ''}>
              {shownHead}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items === undefined && (
          <tr className="waiting">
            <td className="hidden">Loading</td>
          </tr>
        )}
        {items?.map((item, index) => (
          <tr
            key={idOf(item, index)}
            className={`${isSheet ? 'sheet-row ' : ''}${rowClass?.(item) ?? ''}`}
            {...(hasFocus && { tabIndex: -1 })}
          >
            {columns.map(({ head, key = head, isNumber, isRowHead, cell, ...column }) => {
              const Cell = isRowHead ? 'th' : 'td'
              return (
                <Cell
                  key={key}
                  data-head={head}
                  scope={isRowHead ? 'row' : undefined}
                  className={`${isNumber ? 'num ' : ''}${column.className?.(item) ?? ''}`}
                  title={column.title?.(item)}
                >
                  {isSheet ? <div>{cell(item, index)}</div> : cell(item, index)}
                </Cell>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A box that scrolls around a table. @param about its name, for readers who scroll it by keys */
export const ScrollBox = ({ about, children }: { about: string; children: ReactNode }) => (
  <div className="scroll short-table" tabIndex={0} role="group" aria-label={about}>
    {children}
  </div>
)
