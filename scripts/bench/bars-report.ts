// The report of `npm run bars`: a row for each figure, and the faults that make it fail.
import type { Bound } from './bounds.ts'

/** A figure as a bar reports it (test/fixtures/bar.ts). */
export type Measured = { name: string; figure: number }

type Run = {
  /** Bars that there are, and those that were run. */
  known: readonly string[]
  ran: readonly string[]
  /** Bars whose own test failed. */
  failed: readonly string[]
  measured: readonly Measured[]
  bounds: Readonly<Record<string, Bound>>
}

export type BarsReport = { rows: string[][]; faults: string[] }

const digits = (value: number): string => String(Number(value.toPrecision(3)))
const barOf = (figure: string): string => figure.slice(0, figure.indexOf('/'))

/** The bars to run. @param name one of them; absent: all @param others names that are told, too @throws Error with all names */
export function chosenBars(
  known: readonly string[],
  name: string | undefined,
  others: readonly string[] = [],
): readonly string[] {
  if (name === undefined) return known
  if (!known.includes(name)) throw new Error(`there is no bar ${name}; there are ${[...known, ...others].join(', ')}`)
  return [name]
}

/** The row of a figure, and its fault if it has one. */
function judgeFigure({ name, figure }: Measured, bound: Bound | undefined): { row: string[]; fault?: string } {
  if (bound === undefined)
    return {
      row: [name, digits(figure), 'none', 'no'],
      fault: `${name} has no bound in scripts/bench/bounds.ts`,
    }
  const [isHeld, limit] =
    'most' in bound ? [figure <= bound.most, `<= ${bound.most}`] : [figure >= bound.least, `>= ${bound.least}`]
  const unit = bound.unit === '' ? '' : ` ${bound.unit}`
  const row = [name, `${digits(figure)}${unit}`, `${limit}${unit}`, isHeld ? 'yes' : 'NO']
  return isHeld ? { row } : { row, fault: `${name} is ${digits(figure)}${unit}, its bound ${limit}${unit}` }
}

/** A figure has to hold, to have a bound, and to be measured where its bar was run. */
export function judgeBars({ known, ran, failed, measured, bounds }: Run): BarsReport {
  const judged = measured.map((one) => judgeFigure(one, bounds[one.name]))
  const rows = judged.map(({ row }) => row)
  const faults = [...failed.map((bar) => `the bar ${bar} failed`), ...judged.flatMap(({ fault }) => fault ?? [])]
  const names = new Set(measured.map(({ name }) => name))
  for (const name of Object.keys(bounds)) {
    if (!known.includes(barOf(name))) faults.push(`${name} has a bound, but there is no bar ${barOf(name)}`)
    else if (ran.includes(barOf(name)) && !names.has(name)) {
      rows.push([name, 'not measured', '', 'NO'])
      faults.push(`${name} was not measured`)
    }
  }
  for (const bar of ran)
    if (![...names, ...Object.keys(bounds)].some((name) => barOf(name) === bar))
      faults.push(`the bar ${bar} measures nothing`)
  return { rows, faults }
}

/** Rows in columns as wide as their longest cell. */
export function barsTable(rows: readonly string[][]): string {
  const all = [['name', 'figure', 'bound', 'held'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) => `${row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')}`.trimEnd()).join('\n')
}
