// Cells of a row that say what was used: by the call itself, or by the whole trace that the row stands for.
import type { ReactNode } from 'react'
import { columnMoney, count, duration, plural, tokens } from '../engine/format.ts'
import type { Row } from '../engine/rows.ts'
import type { Totals, TotalsOfRow } from '../engine/trace-totals.ts'
import { costText, costTitle, type PricedCost } from '../engine/unpriced.ts'
import { LinkedCell } from '../parts/row-link.tsx'
import { T } from '../parts/text.tsx'

/** In place of a value that is on its way, or could not be read. */
export const Unknown = ({ why }: { why: string | undefined }) =>
  why === undefined ? (
    <span className="ghost" />
  ) : (
    <span className="dim" title={`Could not be read: ${why}`}>
      ?
    </span>
  )

type UsedProps = { row: Row; totals: TotalsOfRow; href: string }

const None = ({ why }: { why?: string }) => (
  <span className="dim" title={why}>
    –
  </span>
)

const ModelText = ({ model, href }: { model: string | null; href: string }) => (
  <LinkedCell href={href} className="second">
    {model === null ? <None /> : <T text={model} />}{' '}
  </LinkedCell>
)
const TokensText = ({ tokensIn, tokensOut, href }: Pick<Row, 'tokensIn' | 'tokensOut'> & { href: string }) => (
  <LinkedCell
    href={href}
    className="num second"
    title={tokensIn === null ? '' : `${count(tokensIn)} in, ${count(tokensOut ?? 0)} out`}
  >
    {tokensIn === null ? <None /> : `${tokens(tokensIn)}→${tokens(tokensOut)}`}{' '}
  </LinkedCell>
)
const CostText = ({ href, ...of }: PricedCost & { href: string }) => (
  <LinkedCell href={href} className="num second" title={costTitle(of)}>
    {of.cost === null ? <None /> : costText(of, columnMoney)}{' '}
  </LinkedCell>
)

/** Cells of both tables begin with model, tokens and cost. */
const costPlace = 2

/** What a call used by itself. */
const callCells: readonly ((props: UsedProps) => ReactNode)[] = [
  ({ row, href }) => <ModelText model={row.model} href={href} />,
  ({ row, href }) => <TokensText tokensIn={row.tokensIn} tokensOut={row.tokensOut} href={href} />,
  ({ row, href }) => <CostText cost={row.cost} unpriced={row.unpriced} href={href} />,
]

/** A cell that says something of the whole trace: a dash once that is gone. */
const ofTrace =
  (Shown: (props: { totals: Totals; href: string }) => ReactNode) =>
  ({ totals, href }: UsedProps) =>
    typeof totals === 'object' && totals !== null ? (
      <Shown totals={totals} href={href} />
    ) : (
      <LinkedCell href={href} className="num second">
        {totals === null ? <None why="This trace no longer exists" /> : <Unknown why={totals} />}{' '}
      </LinkedCell>
    )

const traceCells: readonly ((props: UsedProps) => ReactNode)[] = [
  ofTrace(({ totals: { models }, href }) => (
    <ModelText model={models.length === 0 ? null : models.join(', ')} href={href} />
  )),
  ofTrace(({ totals: { models, input_tokens, output_tokens }, href }) => (
    <TokensText tokensIn={models.length === 0 ? null : input_tokens} tokensOut={output_tokens} href={href} />
  )),
  ofTrace(({ totals: { models, cost, unpriced_models }, href }) => (
    <CostText cost={models.length === 0 ? null : cost} unpriced={unpriced_models} href={href} />
  )),
  ofTrace(({ totals: { duration_ms, is_running }, href }) => (
    <LinkedCell
      href={href}
      className="num second"
      title={is_running ? 'still running' : `${duration_ms} ms, from the first start to the last end`}
    >
      {is_running ? 'running' : duration(duration_ms)}{' '}
    </LinkedCell>
  )),
  ofTrace(({ totals: { errors }, href }) => (
    <LinkedCell href={href} className={errors > 0 ? 'num s-error' : 'num dim'} title={plural(errors, 'error')}>
      {count(errors)}{' '}
    </LinkedCell>
  )),
  ofTrace(({ totals: { spans }, href }) => (
    <LinkedCell href={href} className="num second" title={plural(spans, 'span')}>
      {count(spans)}{' '}
    </LinkedCell>
  )),
]

/** What it cost, alone. */
export const CostCell = ({ ofTraces, ...props }: UsedProps & { ofTraces: boolean }) => {
  const Cell = (ofTraces ? traceCells : callCells)[costPlace]
  return Cell && <Cell {...props} />
}

export const UsedCells = ({ ofTraces, ...props }: UsedProps & { ofTraces: boolean }) =>
  (ofTraces ? traceCells : callCells).map((Cell, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: columns of one table
    <Cell key={place} {...props} />
  ))
