// What a span cost: tokens, prices and sums by model.
import type { Bill, BillLine } from '../engine/bill.ts'
import { count, money } from '../engine/format.ts'
import { T } from '../parts/text.tsx'

const perMillion = (price: number | null): string => (price === null ? '–' : money(price * 1_000_000))
const cells: [head: string, cell: (line: BillLine) => string, title?: (line: BillLine) => string][] = [
  ['Tokens', ({ tokens }) => (tokens === null ? '–' : count(tokens))],
  ['Price of a million', ({ price }) => perMillion(price), ({ price }) => (price === null ? '' : `$${price} each`)],
  ['Cost', ({ cost }) => (cost === null ? '–' : money(cost)), ({ cost }) => (cost === null ? '' : `$${cost}`)],
]

export function Cost({ bills, unpriced }: { bills: readonly Bill[]; unpriced: readonly string[] }) {
  return (
    <div className="scroll bills" tabIndex={0} role="group" aria-label="Cost of this call">
      {bills.map(({ model, lines, total, since, level }) => (
        <section key={model}>
          <h3>
            <T text={model} max={120} /> <span className="grow" />{' '}
            <span className="num" title={`$${total}`}>
              {money(total)}
            </span>
          </h3>
          <table>
            <thead>
              <tr>
                <th scope="col">Kind</th>
                {cells.map(([head]) => (
                  <th key={head} scope="col" className="num">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <tr key={line.what}>
                  <th scope="row">{line.what}</th>
                  {cells.map(([head, cell, title]) => (
                    <td key={head} className="num" title={title?.(line)}>
                      {cell(line)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <p className="second">
            Price of <T text={level || 'the server'} max={60} />
            {since !== '' && (
              <>
                , from <T text={since.slice(0, 10)} /> on
              </>
            )}
            .
          </p>
        </section>
      ))}
      {unpriced.length > 0 && (
        <p className="second">
          Without a price: <T text={unpriced.join(', ')} max={600} />
        </p>
      )}
    </div>
  )
}
