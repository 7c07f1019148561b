// The default prices: the table that is shipped and the operator's file, as one table in memory.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { priceFile } from '../../../schemas/costs.ts'
import { parseTimestamp } from '../../core/timestamps.ts'
import { derivedPrices, type Price, type PriceTable, priceTable } from './prices.ts'

const shippedFile = fileURLToPath(new URL('./default-prices.json', import.meta.url))

/** @throws Error that names the file and the entry */
export function readPriceFile(file: string, origin: 'shipped' | 'operator' = 'operator'): Price[] {
  const faulty = (text: string) => new Error(`Price file ${file}: ${text}`)
  let found: unknown
  try {
    found = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw faulty(error instanceof Error ? error.message : String(error))
  }
  const parsed = priceFile.safeParse(found)
  const [issue] = parsed.error?.issues ?? []
  if (!parsed.success) throw faulty(`${issue?.path.join('.')}: ${issue?.message}`)
  return parsed.data.flatMap((entry, n) => {
    const effectiveUs = parseTimestamp(entry.effective_date)
    if (effectiveUs === null) throw faulty(`${n}.effective_date: not a date`)
    const anHour = entry.cache_write_1h_per_million
    return [entry.llm_id, ...entry.aliases].map((llmId) => {
      const price = {
        llmId,
        providerId: entry.provider,
        level: 'default' as const,
        file: origin,
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

/** The operator's prices win over shipped ones of the same date. */
export const loadDefaultPrices = (operatorFile: string | undefined): PriceTable =>
  priceTable([
    ...(operatorFile === undefined ? [] : readPriceFile(operatorFile)),
    ...readPriceFile(shippedFile, 'shipped'),
  ])
