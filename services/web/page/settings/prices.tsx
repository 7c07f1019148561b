// Prices of a project by model, which of them in effect, and models that are seen without one.
import { useState } from 'react'
import { json } from '../api/client.ts'
import { mayAdminister, useSession } from '../api/session.ts'
import { count, moment, money, tokens } from '../engine/format.ts'
import { Confirm, RowButton, SectionHead } from '../parts/forms.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import { useZone } from '../preferences.ts'
import type { Shapes } from '../routes.gen.ts'
import { NewPrice } from './new-price.tsx'
import { partsOf } from './project.ts'

type Price = Shapes['costs.query']['out']['results'][number] & { applies?: boolean }
type Seen = { model: string; calls: number; input: number; output: number; cost: number | null }

const maxPrices = 5_000
const seenDays = 30

/** Prices by model, the latest first; the first that is in force applies today. */
function inOrder(prices: readonly Price[], nowMs = Date.now()): Price[] {
  const msOf = ({ effective_date }: Price) => Date.parse(effective_date ?? '')
  const sorted = [...prices].sort((a, b) => (a.llm_id ?? '').localeCompare(b.llm_id ?? '') || msOf(b) - msOf(a))
  const seen = new Set<string | null>()
  return sorted.map((price) => {
    const applies = msOf(price) <= nowMs && !seen.has(price.llm_id)
    if (applies) seen.add(price.llm_id)
    return { ...price, applies }
  })
}

const useSeen = (projectId: string) =>
  useList<Seen>({
    key: ['settings', 'models', projectId],
    async read({ signal }) {
      const now = Date.now()
      const fields = ['input_tokens', 'output_tokens', 'total_cost'].map((field) => ({ field, as: 'sum' }))
      const asked = {
        project_id: projectId,
        group_by: ['model'],
        top: 100,
        bucket: null,
        start: new Date(now - seenDays * 86_400_000).toISOString(),
        end: new Date(now + 60_000).toISOString(),
        metrics: [{ field: 'calls', as: 'count' }, ...fields],
      }
      const inProject = { signal, params: partsOf(projectId) }
      const [{ groups }, { models }] = await Promise.all([
        json('calls.aggregate', asked, { signal }),
        json('costs.unpriced_models', undefined, inProject),
      ])
      const unpriced = models.map(
        ({ model, calls, input_tokens: input, output_tokens: output }): Seen => ({
          model,
          calls,
          input,
          output,
          cost: null,
        }),
      )
      const lacking = new Set(unpriced.map(({ model }) => model))
      const priced = groups
        .filter(({ is_rest, keys }) => !is_rest && keys[0] !== '')
        .map(({ keys, total }) => ({
          model: keys[0] ?? '',
          calls: total['calls.count'] ?? 0,
          cost: total['total_cost.sum'] ?? 0,
          input: total['input_tokens.sum'] ?? 0,
          output: total['output_tokens.sum'] ?? 0,
        }))
        .filter(({ model, input, output }) => input + output > 0 && !lacking.has(model))
      return [...unpriced, ...priced.sort((a, b) => b.calls - a.calls)]
    },
  })

const perMillion = (value: number | null, unit: string | null): string =>
  value === null
    ? '–'
    : unit === 'USD'
      ? money(Number((value * 1e6).toPrecision(12)))
      : `${Number((value * 1e6).toPrecision(12))} ${unit}`

const whyNot = (mayChange: boolean) => (mayChange ? undefined : 'You need admin rights to change prices')

const amounts = [
  ['Input', 'prompt_token_cost', 'prompt_token_cost_unit'],
  ['Output', 'completion_token_cost', 'completion_token_cost_unit'],
  ['Cache read', 'cache_read_input_token_cost', 'prompt_token_cost_unit'],
  ['Cache write', 'cache_creation_input_token_cost', 'prompt_token_cost_unit'],
] as const

const priceColumns = (zone: string, mayChange: boolean, remove: (price: Price) => void): ShortColumn<Price>[] => [
  {
    head: 'Model',
    width: 'minmax(14rem, 2fr)',
    cell: ({ llm_id }) => <T text={llm_id ?? ''} />,
  },
  ...amounts.map(([head, name, unit]) => ({
    head,
    width: 'minmax(7.2rem, 1fr)',
    isNumber: true,
    cell: (price: Price) => <span title={`${price[name]} per token`}>{perMillion(price[name], price[unit])}</span>,
  })),
  {
    head: 'From',
    width: 'minmax(12rem, 1fr)',
    cell: ({ effective_date, applies }) => (
      <span title={effective_date ?? ''}>
        {moment(effective_date ?? '', zone)}
        {applies && (
          <small>
            <span className="pill good">in effect</span>
          </small>
        )}
      </span>
    ),
  },
  {
    head: 'Actions',
    width: '9.2rem',
    cell: (price) => (
      <RowButton
        name="Remove…"
        of={`the price of ${price.llm_id} from ${price.effective_date}`}
        isDangerous
        run={() => remove(price)}
        whyNot={whyNot(mayChange)}
      />
    ),
  },
]

const seenColumns = (mayChange: boolean, add: (model: string) => void): ShortColumn<Seen>[] => [
  { head: 'Model', width: 'minmax(14rem, 2fr)', cell: ({ model }) => <T text={model} /> },
  { head: 'Calls', width: 'minmax(7rem, 1fr)', isNumber: true, cell: ({ calls }) => count(calls) },
  {
    head: 'Tokens',
    width: 'minmax(11rem, 1fr)',
    isNumber: true,
    cell: ({ input, output }) => (
      <span title={`${count(input)} in, ${count(output)} out`}>
        {tokens(input)} → {tokens(output)}
      </span>
    ),
  },
  {
    head: 'Cost',
    width: 'minmax(13rem, 1fr)',
    isNumber: true,
    cell: ({ cost }) =>
      cost === null ? (
        <span className="pill warn">no price</span>
      ) : (
        <span title={String(cost)}>{cost > 0 ? money(cost) : 'free'}</span>
      ),
  },
  {
    head: 'Actions',
    width: '11rem',
    cell: ({ model }) => (
      <RowButton name="Add a price" of={`of ${model}`} run={() => add(model)} whyNot={whyNot(mayChange)} />
    ),
  },
]

function Models({ projectId, add, mayChange }: { projectId: string; add(model: string): void; mayChange: boolean }) {
  return (
    <section className="part" aria-labelledby="models">
      <h2 id="models">Models used in the last {seenDays} days</h2>
      <ShortTable
        label="Models"
        columns={seenColumns(mayChange, add)}
        list={useSeen(projectId)}
        idOf={({ model }) => model}
        none="No token usage in this period."
      />
    </section>
  )
}

export function Prices({ projectId }: { projectId: string }) {
  const { data: session } = useSession()
  const mayChange = mayAdminister(session)
  const zone = useZone(undefined)
  const [adding, setAdding] = useState<string>()
  const [leaving, setLeaving] = useState<Price>()
  const list = useList<Price>({
    key: ['settings', 'prices', projectId],
    read: async ({ signal }) =>
      (await json('costs.query', { project_id: projectId, limit: maxPrices }, { signal })).results,
  })
  const remove = () => {
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: leaving?.id ?? '' }] } }
    return json('costs.purge', { project_id: projectId, query })
  }
  return (
    <>
      <SectionHead
        title="Prices"
        acts={
          <button type="button" className="first" disabled={!mayChange} onClick={() => setAdding('')}>
            New price
          </button>
        }
      >
        Prices of {projectId}, per million tokens. A call costs what the price was when it began; these prices override
        built-in ones. A price with an earlier effective date changes the costs of past calls.
      </SectionHead>
      <ShortTable
        label="Prices"
        columns={priceColumns(zone, mayChange, setLeaving)}
        list={list}
        items={list.items && inOrder(list.items)}
        idOf={({ id }) => id ?? ''}
        rowClass={({ applies }) => (applies ? '' : 'over')}
        none="No custom prices. Built-in prices apply."
      />
      {list.items?.length === maxPrices && <p className="second">Showing the first {count(maxPrices)} prices.</p>}
      <Models projectId={projectId} add={setAdding} mayChange={mayChange} />
      {adding !== undefined && <NewPrice projectId={projectId} model={adding} onClose={() => setAdding(undefined)} />}
      {leaving && (
        <Confirm title="Remove price" act="Remove" run={remove} onClose={() => setLeaving(undefined)}>
          Calls of <strong>{leaving.llm_id}</strong> then use the next price that applies: an earlier one of the
          project, or the built-in price.
        </Confirm>
      )}
    </>
  )
}
