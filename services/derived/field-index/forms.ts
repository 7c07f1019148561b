// Classifies a JSON string or number as a field value, and gives its text in a column: nearly always the very bytes of
// the document, so that no string is made of them.
import { doubleText, numberForm, stringToDouble } from '../../core/json/number-text.ts'
import { fieldKinds } from './columns.ts'
import type { FoundValues } from './found-values.ts'
import type { PathNode } from './paths.ts'
import { type Bytes, escapesOf, storableText } from './strings.ts'

const plus = 43
const minus = 45
const point = 46
const zero = 48
const nine = 57

/** Decimals of so many digits are told apart by doubles. */
const maxExactDigits = 15
/** Zeros after the point of `0.000001`: the shortest form of smaller numbers has an exponent. */
const maxLeadingZeros = 5

function digitsEnd(b: Bytes, start: number, end: number): number {
  let i = start
  while (i < end && (b[i] as number) >= zero && (b[i] as number) <= nine) i++
  return i
}

/** Whether the text start..end is surely the shortest form of a double. */
function isShortest(b: Bytes, start: number, end: number): boolean {
  const whole = b[start] === minus ? start + 1 : start
  if (end - whole > maxExactDigits + 1) return false
  const wholeEnd = digitsEnd(b, whole, end)
  const beginsWithZero = b[whole] === zero
  if (wholeEnd === whole || (beginsWithZero && wholeEnd > whole + 1)) return false
  if (wholeEnd === end) return end - whole <= maxExactDigits && !(beginsWithZero && whole > start)
  if (b[wholeEnd] !== point || b[end - 1] === zero) return false
  let i = wholeEnd + 1
  while (i < end && b[i] === zero) i++
  if (beginsWithZero && i > wholeEnd + 1 + maxLeadingZeros) return false
  return i < end && digitsEnd(b, i, end) === end
}

/** Whether it has no characters but those of decimals, and begins as one. */
function mayBeDecimal(b: Bytes, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const c = b[i] as number
    const isPart = (c >= zero && c <= nine) || c === plus || c === minus || c === point
    if (!isPart && (i === start || (c !== 69 && c !== 101))) return false
  }
  return end > start
}

function keepText(found: FoundValues, node: PathNode, text: string | null): void {
  const num = text === null ? null : stringToDouble(text)
  if (text === null) found.keep(node, fieldKinds.long)
  else if (num === null) found.keep(node, fieldKinds.text, 0, 0, JSON.stringify(text))
  else if (doubleText(num) === text) found.keep(node, fieldKinds.number, 0, 0, text)
  else found.keep(node, fieldKinds.numeral, 0, 0, JSON.stringify(text))
}

/** Keeps the string start..end, which is short and has no escapes. */
export function keepPlainString(found: FoundValues, node: PathNode, b: Bytes, start: number, end: number): void {
  if (!mayBeDecimal(b, start + 1, end - 1)) found.keep(node, fieldKinds.text, start, end)
  else if (isShortest(b, start + 1, end - 1)) found.keep(node, fieldKinds.number, start + 1, end - 1)
  else keepText(found, node, storableText(b, start, end))
}

/** Keeps the string start..end, which is short and has escapes. */
export function keepString(found: FoundValues, node: PathNode, b: Bytes, start: number, end: number): void {
  // No decimal has the characters that need them.
  if (escapesOf(b, start, end) === 'usual') found.keep(node, fieldKinds.text, start, end)
  else keepText(found, node, storableText(b, start, end))
}

/** Keeps the number start..end, which is short. */
export function keepNumber(found: FoundValues, node: PathNode, b: Bytes, start: number, end: number): void {
  if (isShortest(b, start, end)) {
    found.keep(node, fieldKinds.number, start, end)
    return
  }
  const form = numberForm(b.latin1Slice(start, end))
  const num = Number(form)
  if (doubleText(num) === form) found.keep(node, fieldKinds.number, 0, 0, form)
  else found.keep(node, Number.isFinite(num) ? fieldKinds.numeral : fieldKinds.text, 0, 0, `"${form}"`)
}
