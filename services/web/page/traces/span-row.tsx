// One line of the tree: where the span stands, what it is, what it took. Its bar is drawn on the canvas beside.
import { memo } from 'react'
import { columnMoney, count, duration, money, tokens } from '../engine/format.ts'
import { textOf } from '../engine/span-columns.ts'
import { kindOfSpan, statusOfSpan, type Tree } from '../engine/tree.ts'
import { IconButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'

type SpanProps = {
  tree: Tree
  line: number
  index: number
  isAt: boolean
  isOpen: boolean
  isMatch: boolean
  /** Whether the row is shown alone, without the rows above and below it. */
  isFlat: boolean
  onOpen(line: number, isOpen: boolean): void
}

const maxGuides = 24

/** Drawn again only where it says something else: each step of a scroll goes through all rows in view. */
export const SpanRow = memo(function SpanRow(props: SpanProps) {
  const { tree, line, index, isAt, isOpen, isMatch, isFlat, onOpen } = props
  const { spans, order, depth, end } = tree
  const span = order[line] as number
  const level = isFlat ? 0 : (depth[line] as number)
  const hasChildren = !isFlat && (end[line] as number) > line + 1
  const kind = kindOfSpan(spans, span)
  const status = statusOfSpan(spans, span)
  const took = spans.duration[span] as number
  const exception = textOf(spans.errors, span)
  return (
    <div
      role="row"
      aria-level={level + 1}
      aria-rowindex={index + 1}
      aria-selected={isAt}
      aria-expanded={hasChildren ? isOpen : undefined}
      className={`row span${isAt ? ' at' : ''}${status === 'error' ? ' failed' : ''}`}
    >
      <div className="cells">
        <span role="gridcell" className="name">
          <span className="guides" style={{ width: Math.min(level, maxGuides) * 14 }} />
          {hasChildren ? (
            <IconButton
              icon="right"
              tabIndex={-1}
              className={`twist${isOpen ? ' open' : ''}`}
              label={isOpen ? 'Close' : 'Open'}
              onClick={() => onOpen(line, !isOpen)}
            />
          ) : (
            <span className="twist" />
          )}
          <Icon
            name={status === 'error' ? 'error' : kind}
            label={status === 'error' ? `${kind}, error` : kind}
            className={status === 'error' ? 's-error' : `k-${kind}`}
          />
          <span
            className="label"
            style={isMatch ? { background: 'color-mix(in srgb, var(--warning) 28%, transparent)' } : {}}
          >
            <T text={textOf(spans.names, span)} max={160} />
            {exception && (
              <span className="s-error">
                {' '}
                <T text={exception} max={80} />
              </span>
            )}
          </span>
        </span>
        <Total name="tokens" total={tree.total.tokens[span]} own={spans.tokensIn[span]} shown={tokens} exact={count} />
        <Total name="cost" total={tree.total.cost[span]} own={spans.cost[span]} shown={columnMoney} exact={money} />
        <span role="gridcell" className="num second" title={took < 0 ? 'still running' : `${took} µs`}>
          {took < 0 ? 'running' : duration(took / 1000)}
        </span>
      </div>
      <div role="gridcell">
        <span className="hidden">{`starts at ${duration((spans.start[span] as number) / 1000)}`}</span>
      </div>
    </div>
  )
})

type TotalProps = {
  name: string
  total: number | undefined
  own: number | undefined
  shown(value: number): string
  exact(value: number): string
}

/** Total of a span with everything below it. */
function Total({ name, total = Number.NaN, own = Number.NaN, shown, exact }: TotalProps) {
  if (Number.isNaN(total)) return <span role="gridcell" className={`num wide ${name}`} />
  const isOfOthers = Number.isNaN(own)
  return (
    <span
      role="gridcell"
      className={`num dim wide ${name}${isOfOthers ? ' summed' : ''}`}
      title={`${exact(total)}${isOfOthers ? ' of the spans below it' : ''}`}
    >
      {shown(total)}
    </span>
  )
}
