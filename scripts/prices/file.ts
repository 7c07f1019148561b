// The file of default prices: what was shipped before, and how it is written.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type PriceEntry, shippedPriceFile } from '../../schemas/costs.ts'
import { agree, type Offer, type Point } from './merge.ts'

const path = fileURLToPath(new URL('../../services/query/costs/default-prices.json', import.meta.url))

const pointOf = (entry: PriceEntry): Point => ({
  date: entry.effective_date,
  amounts: {
    input: entry.input_per_million,
    output: entry.output_per_million,
    ...(entry.cache_read_per_million > 0 ? { read: entry.cache_read_per_million } : {}),
    ...(entry.cache_write_per_million > 0 ? { write: entry.cache_write_per_million } : {}),
    ...(entry.cache_write_1h_per_million === undefined ? {} : { write1h: entry.cache_write_1h_per_million }),
  },
})

/** Prices by name. */
export function readShipped(): Map<string, Offer> {
  const { providers, prices } = shippedPriceFile.parse(JSON.parse(readFileSync(path, 'utf8')))
  const offers = new Map<string, Offer>()
  for (const entry of prices) {
    const { pages, read } = providers[entry.provider] ?? { pages: [], read: '' }
    for (const name of [entry.llm_id, ...entry.aliases]) {
      const known = offers.get(name)
      if (known) known.points.push(pointOf(entry))
      else {
        const source = { page: entry.source ?? pages[0], read: entry.read ?? read }
        offers.set(name, { provider: entry.provider, model: entry.llm_id, points: [pointOf(entry)], ...source })
      }
    }
  }
  return offers
}

const last = (offer: Offer): Point => offer.points.at(-1) as Point

/**
 * A price that changed is a new point: what was shipped before holds until the source was read, unless the source dates the
 * change. A price that was missing is filled in.
 */
export function carriedOn(shipped: Offer | undefined, offer: Offer): Offer {
  if (!shipped || shipped.provider !== offer.provider || last(offer).date > last(shipped).date) return offer
  if (!agree(last(shipped).amounts, last(offer).amounts))
    return { ...offer, points: [...shipped.points, { date: offer.read, amounts: last(offer).amounts }] }
  const filled = { ...last(shipped), amounts: { ...last(shipped).amounts, ...last(offer).amounts } }
  return { ...offer, points: [...shipped.points.slice(0, -1), filled] }
}

/** Names that the sources know no longer keep their prices. */
export function withShipped(offers: Map<string, Offer>, shipped: Map<string, Offer>): Map<string, Offer> {
  const all = new Map(shipped)
  for (const [name, offer] of offers) all.set(name, carriedOn(shipped.get(name), offer))
  return all
}

/** One entry per price point of all names of a model that have the same ones. */
export function writeShipped(offers: Map<string, Offer>, pages: Map<string, string[]>): void {
  const groups = new Map<string, { offer: Offer; names: string[] }>()
  for (const [name, offer] of offers) {
    const key = JSON.stringify(offer)
    const group = groups.get(key)
    if (group) group.names.push(name)
    else groups.set(key, { offer, names: [name] })
  }
  const providers = [...pages].flatMap(([id, listed]) => {
    const read = [...offers.values()].flatMap((offer) => (offer.provider === id ? [offer.read] : [])).sort()
    return read.length > 0 ? [[id, { pages: listed, read: read.at(-1) as string }] as const] : []
  })
  const byProvider = new Map(providers)
  const ranks = new Map(providers.map(([id], n) => [id, n]))
  const sorted = [...groups.values()].map(({ offer, names }) => ({ offer, names: names.sort(shorter) }))
  sorted.sort(
    (a, b) =>
      (ranks.get(a.offer.provider) ?? 0) - (ranks.get(b.offer.provider) ?? 0) ||
      (String(a.names[0]) < String(b.names[0]) ? -1 : 1),
  )
  const lines = sorted.flatMap(({ offer, names: [llm_id, ...aliases] }) => {
    const { provider, page, read } = offer
    const of = byProvider.get(provider)
    return offer.points.map(({ date, amounts }) =>
      JSON.stringify({
        llm_id,
        ...(aliases.length > 0 ? { aliases } : {}),
        provider,
        input_per_million: amounts.input,
        output_per_million: amounts.output,
        cache_read_per_million: amounts.read,
        cache_write_per_million: amounts.write,
        cache_write_1h_per_million: amounts.write1h,
        effective_date: date,
        ...(page === undefined || page === of?.pages[0] ? {} : { source: page }),
        ...(read === of?.read ? {} : { read }),
      }),
    )
  })
  const heads = providers.map(([id, one]) => `${JSON.stringify(id)}:${JSON.stringify(one)}`)
  writeFileSync(path, `{"providers":{\n${heads.join(',\n')}\n},"prices":[\n${lines.join(',\n')}\n]}\n`)
}

const shorter = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1)
