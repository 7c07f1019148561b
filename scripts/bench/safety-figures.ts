// Rows of `npm run bench safety`: what was measured, and what it must be.
const row = (name: string, value: string, unit: string, must: number, verdict: string): void => {
  process.stdout.write(`${name.padEnd(58)} ${value.padStart(9)} ${unit.padEnd(3)} must ${must}  ${verdict}\n`)
}

export const figure = (name: string, value: number, unit: string, must: number): void =>
  row(name, value.toFixed(2), unit, must, value <= must ? 'ok' : 'MISSED')

/** @param how it is measured */
export const notMeasured = (name: string, must: number, how: string, unit = ''): void =>
  row(name, '-', unit, must, `not measured: ${how}`)
