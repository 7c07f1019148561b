// A windowed table of items by columns: one height, the row at hand, Enter and double click open.
import type { KeyboardEvent, MouseEvent, ReactNode, Ref } from 'react'
import { useRowHeight } from '../preferences.ts'
import { scaled } from '../text-scale.ts'
import { useIsWindow } from '../window-width.ts'
import { heightOfLines, NarrowLabel, NarrowLine, type NarrowPlace } from './narrow-lines.tsx'
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
  /** Where it stands in narrow windows; without it, it is left out there. Where no column has one, the table is scrolled. */
  narrow?: NarrowPlace
  cell(item: Item, index: number): ReactNode
}

type GridProps<Item> = {
  label: string
  columns: readonly Column<Item>[]
  items: readonly Item[]
  minWidth: number
  /** Height of a row with columns; rows of lines are as high as their lines. */
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

/** Columns by the lines of a row in a narrow window; none where the table keeps its columns. */
function linesOf<Item>(columns: readonly Column<Item>[]): Column<Item>[][] {
  const last = Math.max(0, ...columns.map(({ narrow }) => narrow?.line ?? 0))
  return Array.from({ length: last }, (_, n) => columns.filter(({ narrow }) => narrow?.line === n + 1)).filter(
    (line) => line.length > 0,
  )
}

type CellsProps<Item> = { columns: readonly Column<Item>[]; item: Item; index: number; href: string | undefined }

function Cells<Item>({ columns, item, index, href, isNarrow }: CellsProps<Item> & { isNarrow: boolean }) {
  return columns.map(({ name, cell, isNumber, isOwn, narrow }) => {
    const className = `${isNumber ? 'num' : ''}${isNarrow && narrow?.grows ? ' grows' : ''}`
    const shown = (
      <>
        {isNarrow && narrow?.label !== undefined && <NarrowLabel text={narrow.label} />}
        {cell(item, index)}
      </>
    )
    if (href !== undefined && !isOwn)
      return (
        <LinkedCell key={name} href={href} className={className}>
          {shown}
        </LinkedCell>
      )
    return (
      <span key={name} role="cell" className={isOwn ? `own ${className}` : className}>
        {shown}
      </span>
    )
  })
}

const NarrowCells = <Item,>({ lines, ...rest }: Omit<CellsProps<Item>, 'columns'> & { lines: Column<Item>[][] }) =>
  lines.map((columns) => (
    <NarrowLine key={columns[0]?.name}>
      <Cells columns={columns} {...rest} isNarrow />
    </NarrowLine>
  ))

export function Grid<Item>(props: GridProps<Item>) {
  const { label, items, at, onAt, onOpen, hrefOf, rowClass } = props
  const isSmall = useIsWindow('narrow')
  const lines = isSmall ? linesOf(props.columns) : []
  const isNarrow = lines.length > 0
  const columns = isNarrow ? lines.flat() : props.columns
  const lineHeight = useRowHeight()
  const height = isNarrow ? heightOfLines(lineHeight, lines.length) : props.height
  // Without anything to sort by the head has nothing to show.
  const hasHead = !isNarrow || columns.some(({ sorted }) => sorted !== undefined)
  const headHeight = hasHead ? scaled(props.headHeight ?? 28) : 0
  const tracks = {
    gridTemplateColumns: columns.map(({ width }) => width).join(' '),
    minWidth: scaled(props.minWidth),
  }
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
      className={`${isNarrow ? 'narrow ' : ''}${props.className ?? ''}`}
      {...(props.onRange && { onRange: props.onRange })}
      {...(props.handle !== undefined && { handle: props.handle })}
      onKey={(event) => {
        if (props.onKey?.(event)) return true
        const isMine = event.target === event.currentTarget && !event.ctrlKey && !event.metaKey
        if (event.key !== 'Enter' || !isMine || at < 0 || onOpen === undefined) return false
        open(at)
        return true
      }}
      headHeight={hasHead ? headHeight + 1 : 0}
      head={
        <div role="rowgroup" className={hasHead ? 'head' : 'head hidden'}>
          <div role="row" aria-rowindex={1} className="line-of-cells" style={{ ...tracks, height: headHeight }}>
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
        const layout = isNarrow ? 'narrow-row' : 'line-of-cells'
        const cells = { item, index, href }
        return (
          <div
            role="row"
            aria-rowindex={index + 2}
            aria-selected={isAt}
            className={`row ${layout}${isAt ? ' at' : ''} ${rowClass?.(item) ?? ''}`}
            style={isNarrow ? { height } : { ...tracks, height, width: '100%' }}
            {...(href === undefined
              ? { onDoubleClick: () => open(index) }
              : { onClick: (event: MouseEvent) => isOfRowLink(event) && open(index) })}
          >
            {isNarrow ? (
              <NarrowCells lines={lines} {...cells} />
            ) : (
              <Cells columns={columns} {...cells} isNarrow={false} />
            )}
          </div>
        )
      }}
    />
  )
}
