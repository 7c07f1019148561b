// The default prices: the table that is shipped and the operator's file, as one table in memory.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { type PriceEntry, priceFile, shippedPriceFile } from '../../../schemas/costs.ts'
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { derivedPrices, type Price, type PriceTable, priceTable } from './prices.ts'

const shippedFile = fileURLToPath(new URL('./default-prices.json', import.meta.url))
const faulty = (file: string, text: string) => new Error(`Price file ${file}: ${text}`)

function parsed<Schema extends z.ZodType>(file: string, schema: Schema): z.infer<Schema> {
  let found: unknown
  try {
    found = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw faulty(file, error instanceof Error ? error.message : String(error))
  }
  const { data, error } = schema.safeParse(found)
  const [issue] = error?.issues ?? []
  if (error) throw faulty(file, `${issue?.path.join('.')}: ${issue?.message}`)
  return data as z.infer<Schema>
}

function pricesOf(file: string, origin: 'shipped' | 'operator', entries: readonly PriceEntry[]): Price[] {
  return entries.flatMap((entry, n) => {
    const effectiveUs = parseTimestamp(entry.effective_date)
    if (effectiveUs === null) throw faulty(file, `${n}.effective_date: not a date`)
    const anHour = entry.cache_write_1h_per_million
    return [entry.llm_id, ...entry.aliases].map((llmId) => {
      const price = {
        llmId,
        providerId: entry.provider,
        level: 'default' as const,
        file: origin,
        page: entry.source,
        read: entry.read,
        levelId: 'default',
        effectiveUs,
        prompt: entry.input_per_million / 1e6,
        completion: entry.output_per_million / 1e6,
        cacheRead: entry.cache_read_per_million / 1e6,
        cacheWrite: entry.cache_write_per_million / 1e6,
        promptUnit: 'USD',
        completionUnit: 'USD',
        createdUs: effectiveUs,
        createdBy: 'system',
      }
      return { ...price, ...derivedPrices(price), ...(anHour === undefined ? {} : { cacheWrite1h: anHour / 1e6 }) }
    })
  })
}

/** @throws Error that names the file and the entry */
export const readPriceFile = (file: string): Price[] => pricesOf(file, 'operator', parsed(file, priceFile))

export type ShippedPrices = {
  points: Price[]
  /** Providers: the pages that their prices were read from, and the last day on which they were (`2026-11-12`). */
  providers: Record<string, { pages: string[]; read: string }>
}

let shipped: ShippedPrices | undefined

/** The file is a part of the program: a process reads it once. */
export function readShippedPrices(): ShippedPrices {
  shipped ??= shippedPrices()
  return shipped
}

function shippedPrices(): ShippedPrices {
  const { providers, prices } = parsed(shippedFile, shippedPriceFile)
  const entries = prices.map((entry) => {
    const { pages: [page] = [], read } = providers[entry.provider] ?? {}
    return { ...entry, source: entry.source ?? page, read: entry.read ?? read }
  })
  return { providers, points: pricesOf(shippedFile, 'shipped', entries) }
}

/** The operator's prices win over shipped ones of the same date. */
export const loadDefaultPrices = (operatorFile: string | undefined): PriceTable =>
  priceTable([...(operatorFile === undefined ? [] : readPriceFile(operatorFile)), ...readShippedPrices().points])
