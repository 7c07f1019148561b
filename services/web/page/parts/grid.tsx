// The table of long lists: windowed rows by columns, of one height, with a row at hand; Enter and double click open.
import { Link, type LinkProps, useNavigate, useRouter } from '@tanstack/react-router'
import type { KeyboardEvent, MouseEvent, ReactNode, Ref } from 'react'
import { useRowHeight } from '../preferences.ts'
import { scaled } from '../text-scale.ts'
import { useIsWindow } from '../window-width.ts'
import { Loading } from './empty.tsx'
import { FaultBox } from './fault.tsx'
import { heightOfLines, NarrowLabel, NarrowLine, type NarrowPlace } from './narrow-lines.tsx'
import { isOfRowLink, LinkedCell } from './row-link.tsx'
import { Rows, type RowsHandle } from './rows.tsx'
import type { List, ListPlace } from './use-list.ts'

/** A column of both tables. */
export type BasicColumn<Item> = {
  head: string
  /** Tells it from others with the same head. */
  key?: string
  /** Shows instead of the head. */
  shownHead?: ReactNode
  isNumber?: boolean
  cell(item: Item, index: number): ReactNode
}

export type Column<Item> = BasicColumn<Item> & {
  /** A track of a grid: `8rem`, `minmax(12rem, 1fr)`. */
  width: string
  /** Sort direction of columns that can be sorted by. */
  sorted?: 'descending' | 'none'
  /** Its cells have links or controls of their own. */
  isOwn?: boolean
  /** Its cells are the link to what the row opens. */
  isName?: boolean
  /** Where it stands in narrow windows; without it, it is left out there. Where no column has one, the table is scrolled. */
  narrow?: NarrowPlace
}

/** The page that a row opens. */
type RowTarget = Pick<LinkProps, 'to' | 'params' | 'search'>

type GridProps<Item> = {
  label: string
  columns: readonly Column<Item>[]
  items: readonly Item[]
  minWidth: number
  /** Height of a row with columns; rows of lines are as high as their lines. */
  height?: number
  headHeight?: number
  place: ListPlace
  /** The whole row is a link to it. */
  to?(item: Item): RowTarget
  /** Opens what has no address. */
  onOpen?(item: Item, index: number): void
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

type CellsProps<Item> = {
  columns: readonly Column<Item>[]
  item: Item
  index: number
  to: RowTarget | undefined
  href: string | undefined
}

function Cells<Item>({ columns, item, index, to, href, isNarrow }: CellsProps<Item> & { isNarrow: boolean }) {
  return columns.map(({ head, key = head, cell, isNumber, isName, isOwn = isName, narrow }) => {
    const className = `${isNumber ? 'num' : ''}${isNarrow && narrow?.grows ? ' grows' : ''}`
    const shown = (
      <>
        {isNarrow && narrow?.label !== undefined && <NarrowLabel text={narrow.label} />}
        {isName ? (
          <Link {...to} tabIndex={-1} className="plain">
            {cell(item, index)}
          </Link>
        ) : (
          cell(item, index)
        )}
      </>
    )
    if (href !== undefined && !isOwn)
      return (
        <LinkedCell key={key} href={href} className={className}>
          {shown}
        </LinkedCell>
      )
    return (
      <span key={key} role="cell" className={isOwn ? `own ${className}` : className}>
        {shown}
      </span>
    )
  })
}

const NarrowCells = <Item,>({ lines, ...rest }: Omit<CellsProps<Item>, 'columns'> & { lines: Column<Item>[][] }) =>
  lines.map((columns) => (
    <NarrowLine key={columns[0]?.head}>
      <Cells columns={columns} {...rest} isNarrow />
    </NarrowLine>
  ))

export function Grid<Item>(props: GridProps<Item>) {
  const { label, items, to, rowClass } = props
  const router = useRouter()
  const navigate = useNavigate()
  const at = Math.min(props.place.at, items.length - 1)
  const isSmall = useIsWindow('narrow')
  const lines = isSmall ? linesOf(props.columns) : []
  const isNarrow = lines.length > 0
  const columns = isNarrow ? lines.flat() : props.columns
  const lineHeight = useRowHeight()
  const height = isNarrow ? heightOfLines(lineHeight, lines.length) : (props.height ?? lineHeight)
  // Without anything to sort by the head has nothing to show.
  const hasHead = !isNarrow || columns.some(({ sorted }) => sorted !== undefined)
  const headHeight = hasHead ? scaled(props.headHeight ?? 28) : 0
  const tracks = {
    gridTemplateColumns: columns.map(({ width }) => width).join(' '),
    minWidth: scaled(props.minWidth),
  }
  const open = (index: number) => {
    const item = items[index]
    if (item === undefined) return
    if (to) void navigate(to(item))
    else props.onOpen?.(item, index)
  }
  return (
    <Rows
      isMain
      label={label}
      count={items.length}
      height={height}
      at={at}
      onAt={props.place.onAt}
      className={`${isNarrow ? 'narrow ' : ''}${props.className ?? ''}`}
      {...(props.onRange && { onRange: props.onRange })}
      {...(props.handle !== undefined && { handle: props.handle })}
      onKey={(event) => {
        if (props.onKey?.(event)) return true
        const isMine = event.target === event.currentTarget && !event.ctrlKey && !event.metaKey
        if (event.key !== 'Enter' || !isMine || at < 0) return false
        open(at)
        return true
      }}
      headHeight={hasHead ? headHeight + 1 : 0}
      head={
        <div role="rowgroup" className={hasHead ? 'head' : 'head hidden'}>
          <div role="row" aria-rowindex={1} className="line-of-cells" style={{ ...tracks, height: headHeight }}>
            {columns.map(({ head, key = head, shownHead = head, isNumber, sorted }) => (
              <span key={key} role="columnheader" className={isNumber ? 'num' : ''} aria-sort={sorted}>
                {shownHead}
              </span>
            ))}
          </div>
        </div>
      }
      render={(index, isAt) => {
        const item = items[index] as Item
        const target = to?.(item)
        const href = target && router.buildLocation(target).href
        const layout = isNarrow ? 'narrow-row' : 'line-of-cells'
        const cells = { item, index, to: target, href }
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

type ListGridProps<Item> = Omit<GridProps<Item>, 'items' | 'place'> & {
  list: List<Item>
  /** Those of the list that show. */
  items?: readonly Item[]
  /** Its rows in words, while they are awaited. */
  what: string
  /** Stands there for no rows. */
  none: ReactNode
}

/** A list with what stands in its place: the fault, the wait, and that there is nothing. */
export function ListGrid<Item>({ list, what, none, items = list.items, className = '', ...rest }: ListGridProps<Item>) {
  if (list.error && list.items === undefined) return <FaultBox error={list.error} onRetry={list.refetch} />
  if (items === undefined || list.items === undefined || (items.length === 0 && list.isOld))
    return <Loading what={what} />
  if (items.length === 0) return none
  return <Grid {...rest} items={items} place={list} className={`${className}${list.isOld ? ' pale' : ''}`} />
}
