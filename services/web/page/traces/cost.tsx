// Cost of a span: the usage that it reports, the price, and the arithmetic of each kind of tokens.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { count, money, plural } from '../engine/format.ts'
import { FaultBox } from '../parts/fault.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { Second, T } from '../parts/text.tsx'
import type { Shapes } from '../routes.gen.ts'
import './cost.css'

type Model = Shapes['costs.explain']['out']['models'][number]
type Price = NonNullable<Model['price']>
type Bucket = Model['buckets'][number]

const columns: ShortColumn<Bucket>[] = [
  {
    head: 'Kind',
    isRowHead: true,
    cell: ({ bucket, counted_as }) => (
      <>
        {bucket}
        <br />
        <Second text={counted_as} max={120} />
      </>
    ),
  },
  { head: 'Tokens', isNumber: true, title: ({ counted_as }) => counted_as, cell: ({ tokens }) => count(tokens) },
  {
    head: 'Price per 1M tokens',
    isNumber: true,
    title: ({ price }) => `$${price} per token`,
    cell: ({ price }) => money(price * 1_000_000),
  },
  { head: 'Cost', isNumber: true, title: ({ cost }) => `$${cost}`, cell: ({ cost }) => money(cost) },
]
const sources: Record<Price['source'], string> = {
  project: 'Price of the project',
  'operator file': 'Price list of the server',
  'shipped table': 'Built-in price list',
}

/** Prices count from a day on. */
const day = (time: string): string => time.slice(0, 10)

function PriceLine({ price }: { price: Price }) {
  return (
    <p className="second">
      {sources[price.source]}, provider <T text={price.provider_id} max={60} />, effective {day(price.effective_date)}
      {price.in_force ? '' : ' (after the call started; there is no earlier price)'}.
      {price.read !== null && ` Checked on ${price.read}, ${plural(price.read_days_ago ?? 0, 'day')} ago`}
      {price.read !== null && price.page !== null && (
        <>
          {' '}
          at <T text={price.page} max={120} />
        </>
      )}
      {price.read !== null && '.'}
    </p>
  )
}

function ModelBill({ model, priced_as, usage, price, other_prices, rule, buckets, reasoning_tokens, total }: Model) {
  return (
    <section>
      <h3>
        <T text={model} max={120} /> <span className="grow" />{' '}
        <span className="num" title={price === null ? '' : `$${total}`}>
          {price === null ? '–' : money(total)}
        </span>
      </h3>
      {price === null ? (
        <p className="second">No price for this model, so no cost.</p>
      ) : (
        <>
          <ShortTable columns={columns} items={buckets} idOf={({ bucket }) => bucket} />
          {priced_as && (
            <p className="second">
              Priced as <T text={priced_as.name} max={120} />, without: {priced_as.rules.join(', ')}.
            </p>
          )}
          {reasoning_tokens > 0 && (
            <p className="second">{plural(reasoning_tokens, 'token')} of the output for reasoning.</p>
          )}
          <p className="second">Cached tokens: {rule}.</p>
          <PriceLine price={price} />
        </>
      )}
      {other_prices.length > 0 && (
        <details>
          <summary>{plural(other_prices.length, 'other price')}</summary>
          <ul>
            {other_prices.map((other) => (
              <li key={`${other.source} ${other.id} ${other.provider_id} ${other.effective_date}`} className="second">
                {sources[other.source]}, provider <T text={other.provider_id} max={60} />, effective{' '}
                {day(other.effective_date)}
              </li>
            ))}
          </ul>
        </details>
      )}
      <details>
        <summary>Usage as reported by the call</summary>
        <pre>
          <T text={JSON.stringify(usage, null, 2)} max={4_000} />
        </pre>
      </details>
    </section>
  )
}

export function Cost({ projectId, id }: { projectId: string; id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['cost', projectId, id],
    queryFn: ({ signal }) => json('costs.explain', { project_id: projectId, call_id: id }, { signal }),
  })
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  return (
    <div className="scroll bills" tabIndex={0} role="group" aria-label="Cost of this call" aria-busy={!data}>
      {data?.models.map((model) => (
        <ModelBill key={model.model} {...model} />
      ))}
      {data && data.models.length > 1 && (
        <p className="sum">
          Total{' '}
          <span className="num" title={`$${data.total}`}>
            {money(data.total)}
          </span>
        </p>
      )}
    </div>
  )
}
