// Age of the shipped prices since they were read from their providers' pages.
import type { Registry } from 'prom-client'
import { metricsIn } from '../../core/process/metrics-in.ts'
import { quantity } from '../../core/quantity.ts'
import { readShippedPrices } from './default-prices.ts'

/** Providers change prices some times a year: after this many days it is time for newer ones. */
export const staleAfterDays = 90

const dayMs = 86_400_000

/** @param day `2026-11-12` */
export const daysSince = (day: string, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - Date.parse(day)) / dayMs))

type PricesAge = { read: string; days: number; prices: number; providers: number }

/** Age of the prices of the provider whose prices were read first. */
export function ageOfPrices(nowMs: number): PricesAge {
  const { providers, points } = readShippedPrices()
  const [read = ''] = Object.values(providers)
    .map((one) => one.read)
    .sort()
  return { read, days: daysSince(read, nowMs), prices: points.length, providers: Object.keys(providers).length }
}

/** Advice about old prices for the operator. */
export const stalePricesText = ({ read, days }: PricesAge): string =>
  `the shipped prices were read on ${read}, ${quantity(days, 'day')} ago: costs may be off; a newer version has newer ones, or CALLHOUSE_PRICES_FILE names your own`

export function observePrices(registry: Registry): void {
  metricsIn(registry).value(
    'callhouse_prices_age_days',
    'Days since the shipped prices were read from the pages of their providers',
    () => ageOfPrices(Date.now()).days,
  )
}
