// Usage in Langfuse's own words: each name counts tokens that no other one counts, and whatever begins with `input` or
// `output` is part of that side (https://langfuse.com/docs/model-usage-and-cost, read in November 2026).
import type { UsageField } from './convention-keys.ts'
import { lookup } from './expand.ts'
import { integerOf, type SpanUsage, sum } from './usage.ts'
import { type Branch, ParsedJson } from './values.ts'

type Integer = number | bigint

const detailsPath = ['langfuse', 'observation', 'usage_details']
const sides = /^(input|output)(_\w+)?$/
/** Names without the side: counts of Anthropic's API beside Langfuse's input. */
const besideInput = new Set(['cache_read_input_tokens', 'cache_creation_input_tokens'])
/** The whole sides, as OpenAI's API of responses has them. */
const whole = new Set(['input_tokens', 'output_tokens'])
const cacheRead = /^(?:input_(?:cached_tokens|cached|cache_read(?:_input_tokens)?)|cache_read_input_tokens)$/
const cacheWrite =
  /^(?:input_cache_(?:creation(?:_input_tokens|_5m|_1h)?|write(?:_tokens)?)|cache_creation_input_tokens)$/

type Side = { reported: Integer; more: Integer }
type Found = { input: Side; output: Side; read: Integer; written: Integer }

function addCount(found: Found, name: string, count: Integer): void {
  if (cacheRead.test(name)) found.read = sum(found.read, count)
  if (cacheWrite.test(name)) found.written = sum(found.written, count)
  const isBeside = besideInput.has(name)
  const [, side = isBeside ? 'input' : undefined, part] = sides.exec(name) ?? []
  if (side === undefined) return
  const to = found[side as 'input' | 'output']
  const of = part === undefined && !isBeside ? 'reported' : 'more'
  to[of] = sum(to[of], count)
}

/** null = the span has no usage in these words. */
export function langfuseUsage(root: Branch): SpanUsage | null {
  const value = lookup(root, detailsPath)
  const details = value instanceof ParsedJson ? value.open() : value
  if (!(details instanceof Map) || !(details.has('input') || details.has('output'))) return null
  const none = (): Side => ({ reported: 0, more: 0 })
  const found: Found = { input: none(), output: none(), read: 0, written: 0 }
  for (const [name, one] of details) {
    const count = integerOf(one)
    if (count !== null && !whole.has(name)) addCount(found, name, count)
  }
  const { input, output, read, written } = found
  const total = integerOf(details.get('total') ?? null)
  // Senders of other products count the parts in, which their total says.
  const isApart = total === null || total !== sum(input.reported, output.reported)
  const allOf = ({ reported, more }: Side): Integer => (isApart ? sum(reported, more) : reported)
  const counts: SpanUsage['counts'] = new Map()
  const set = (name: UsageField, count: Integer, isSet: boolean) => isSet && counts.set(name, count)
  const isAdded = allOf(input) !== input.reported
  set(isAdded ? 'prompt_tokens' : 'input_tokens', allOf(input), details.has('input') || input.more > 0)
  set('output_tokens', allOf(output), details.has('output') || output.more > 0)
  set('total_tokens', total ?? sum(allOf(input), allOf(output)), total !== null || counts.size === 2)
  set('cache_creation_input_tokens', written, written > 0)
  set('cache_read_input_tokens', read, read > 0)
  return { isPresent: true, counts }
}
