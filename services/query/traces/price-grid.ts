// Costs within a statement: the prices of some models between the times at which any of them changes, as lists of factors.
import { fault } from '../../core/http/errors.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { PriceBook } from '../costs/prices.ts'
import { costOf, costSums } from './figures.ts'

export type PriceGrid = {
  /** Cost of what was used of a model at a time. @param sums in the order of `costSums` */
  cost(model: Sql, us: Sql, sums: readonly Sql[]): Sql
  /** Whether a model has a price at a time. */
  isPriced(model: Sql, us: Sql): Sql
  /** Minutes, in seconds, in which a price changes: what was used within them is not of one price. */
  splitMinutes: number[]
}

/** Models times prices of one statement. */
const maxPrices = 20_000
const minuteUs = 60_000_000

/** The price of one unit of each number: costs are linear in all of them. */
const factorsOf = (book: PriceBook, model: string, us: number): number[] =>
  costSums.map(
    (_, n) =>
      costOf(
        book,
        model,
        us,
        costSums.map((_, m) => (n === m ? 1 : 0)),
      ) ?? 0,
  )

/** @param range times of what is priced */
export function priceGrid(
  book: PriceBook,
  models: readonly string[],
  range: { fromUs: number; beforeUs: number },
): PriceGrid {
  const changes = new Set(models.flatMap((model) => book.all(model).map(({ effectiveUs }) => effectiveUs)))
  const within = [...changes].filter((us) => us > range.fromUs && us < range.beforeUs).sort((a, b) => a - b)
  const times = [range.fromUs, ...within]
  if (times.length * models.length > maxPrices)
    throw fault(400, `More than ${maxPrices} prices of models: ask for a shorter time`)
  const factors = times.flatMap((us) => models.map((model) => factorsOf(book, model, us)))
  const priced = times.flatMap((us) => models.map((model) => Number(book.at(model, us) !== null)))
  /** Where the factors of a model at a time stand, 0 = it is none of them. */
  const placeOf = (model: Sql, us: Sql): Sql => {
    const names = param('Array(String)', models)
    const place = sql`transform(${model}, ${names}, arrayEnumerate(${names}), 0)`
    const later = sql`arrayCount(at -> at <= ${us}, ${param('Array(Int64)', within)}) * ${param('Int64', models.length)}`
    return within.length === 0 ? place : sql`if(${place} = 0, 0, ${place} + ${later})`
  }
  return {
    splitMinutes: within.filter((us) => us % minuteUs !== 0).map((us) => Math.floor(us / minuteUs) * 60),
    isPriced: (model, us) => sql`toUInt8(${param('Array(Int64)', priced)}[${placeOf(model, us)}])`,
    cost(model, us, sums) {
      const at = placeOf(model, us)
      // A number that costs nothing of any model is left out.
      const terms = sums.flatMap((sum, n) => {
        const list = factors.map((all) => all[n] ?? 0)
        return list.every((factor) => factor === 0) ? [] : [sql`${sum} * ${param('Array(Float64)', list)}[${at}]`]
      })
      return terms.length === 0 ? sql`toFloat64(0)` : sql`(${terms.reduce((a, b) => sql`${a} + ${b}`)})`
    },
  }
}
