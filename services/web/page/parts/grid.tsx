// A windowed table of items by columns: one height, the row at hand, Enter and double click open.
import type { KeyboardEvent, MouseEvent, ReactNode, Ref } from 'react'
import { scaled } from '../text-scale.ts'
import { isOfRowLink, LinkedCell } from './row-link.tsx'
import { Rows, type RowsHandle } from './rows.tsx'

export type Column<Item> = {
  name: string
  head: ReactNode
  /** A track of a grid: `8rem`, `minmax(12rem, 1fr)`. */
  width: string
  isNumber?: boolean
  /** Sort direction of columns that can be sorted by. */
  sorted?: 'descending' | 'none'
  /** Its cells have links or controls of their own. */
  isOwn?: boolean
  cell(item: Item, index: number): ReactNode
}

type GridProps<Item> = {
  label: string
  columns: readonly Column<Item>[]
  items: readonly Item[]
  minWidth: number
  height: number
  headHeight?: number
  at: number
  onAt(index: number): void
  onOpen?(item: Item, index: number): void
  /** Address of an item: the whole row is a link to it. */
  hrefOf?(item: Item): string
  onRange?(from: number, to: number): void
  onKey?(event: KeyboardEvent): boolean
  rowClass?(item: Item): string
  className?: string
  handle?: Ref<RowsHandle>
}

export function Grid<Item>(props: GridProps<Item>) {
  const { label, columns, items, height, at, onAt, onOpen, hrefOf, rowClass } = props
  const [minWidth, headHeight] = [scaled(props.minWidth), scaled(props.headHeight ?? 28)]
  const gridTemplateColumns = columns.map(({ width }) => width).join(' ')
  const open = (index: number) => {
    const item = items[index]
    if (item !== undefined) onOpen?.(item, index)
  }
  return (
    <Rows
      isMain
      label={label}
      count={items.length}
      height={height}
      at={at}
      onAt={onAt}
      className={props.className ?? ''}
      {...(props.onRange && { onRange: props.onRange })}
      {...(props.handle !== undefined && { handle: props.handle })}
      onKey={(event) => {
        if (props.onKey?.(event)) return true
        const isMine = event.target === event.currentTarget && !event.ctrlKey && !event.metaKey
        if (event.key !== 'Enter' || !isMine || at < 0 || onOpen === undefined) return false
        open(at)
        return true
      }}
      headHeight={headHeight + 1}
      head={
        <div role="rowgroup" className="head">
          <div
            role="row"
            aria-rowindex={1}
            className="line-of-cells"
            style={{ gridTemplateColumns, height: headHeight, minWidth }}
          >
            {columns.map(({ name, head, isNumber, sorted }) => (
              <span key={name} role="columnheader" className={isNumber ? 'num' : ''} aria-sort={sorted}>
                {head}
              </span>
            ))}
          </div>
        </div>
      }
      render={(index, isAt) => {
        const item = items[index] as Item
        const href = hrefOf?.(item)
        return (
          <div
            role="row"
            aria-rowindex={index + 2}
            aria-selected={isAt}
            className={`row line-of-cells${isAt ? ' at' : ''} ${rowClass?.(item) ?? ''}`}
            style={{ gridTemplateColumns, height, minWidth, width: '100%' }}
            {...(href === undefined
              ? { onDoubleClick: () => open(index) }
              : { onClick: (event: MouseEvent) => isOfRowLink(event) && open(index) })}
          >
            {columns.map(({ name, cell, isNumber, isOwn }) => {
              const className = isNumber ? 'num' : ''
              if (href !== undefined && !isOwn)
                return (
                  <LinkedCell key={name} href={href} className={className}>
                    {cell(item, index)}
                  </LinkedCell>
                )
              return (
                <span key={name} role="cell" className={isOwn ? `own ${className}` : className}>
                  {cell(item, index)}
                </span>
              )
            })}
          </div>
        )
      }}
    />
  )
}
