// Texts of JSON numbers as the engine's JSON functions spell them, and which texts read as numbers.

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const whole = /^-?\d+$/
const int64Min = -(2n ** 63n)
const uint64Max = 2n ** 64n - 1n

/** Shortest text of a double as JSON values show it: `5`, `5.5`, `1e21`. */
export function doubleText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value).replace('e+', 'e')
}

/** A whole text that is a decimal or exponent number, finite as a double; else null. */
export function stringToDouble(text: string): number | null {
  if (!decimal.test(text)) return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}

/** Integers of 64 bits and finite doubles in shortest form; anything larger as it was sent. */
export function numberForm(token: string): string {
  if (whole.test(token)) {
    if (token.length < 16) return token === '-0' ? '0' : String(Number(token))
    const value = BigInt(token)
    return value >= int64Min && value <= uint64Max ? String(value) : token
  }
  const value = Number(token)
  return Number.isFinite(value) ? doubleText(value) : token
}
