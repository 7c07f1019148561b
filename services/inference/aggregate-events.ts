// Events of a streamed response (OpenAI's Responses API) or image, put together as the answer that is not streamed.
import { isLosslessObject } from '../core/json/lossless.ts'
import type { JsonFields } from './aggregate-values.ts'

/** Deltas by the type of their event: the member of an output item that they belong to. */
const deltas: Record<string, { list?: 'content' | 'summary'; part?: string; text: string; item: string }> = {
  'response.output_text.delta': { list: 'content', part: 'output_text', text: 'text', item: 'message' },
  'response.refusal.delta': { list: 'content', part: 'refusal', text: 'refusal', item: 'message' },
  'response.reasoning_text.delta': { list: 'content', part: 'reasoning_text', text: 'text', item: 'reasoning' },
  'response.reasoning_summary_text.delta': { list: 'summary', part: 'summary_text', text: 'text', item: 'reasoning' },
  'response.function_call_arguments.delta': { text: 'arguments', item: 'function_call' },
  'response.mcp_call_arguments.delta': { text: 'arguments', item: 'mcp_call' },
  'response.custom_tool_call_input.delta': { text: 'input', item: 'custom_tool_call' },
  'response.code_interpreter_call_code.delta': { text: 'code', item: 'code_interpreter_call' },
}

const ends = /^response\.(?:completed|incomplete|failed|cancelled)$|^image_(?:generation|edit)\.completed$/

const typeIn = (event: unknown): string => (isLosslessObject(event) && typeof event.type === 'string' ? event.type : '')

/** An event of these streams. */
export const isAnswerEvent = (event: unknown): boolean => /^(?:response|image_\w+)\./.test(typeIn(event))

/** An event after which nothing is left to be said. */
export const isLastEvent = (event: unknown): boolean => ends.test(typeIn(event))

/** Greatest number of an item or a part. */
const maxPlace = 10_000

const placeIn = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxPlace ? value : 0

export function createAnswerEvents() {
  let base: JsonFields | undefined
  const items = new Map<number, JsonFields>()
  const images: JsonFields[] = []

  function itemAt(event: JsonFields, type: string): JsonFields {
    const place = placeIn(event.output_index)
    const item = items.get(place) ?? (type === 'message' ? { type, role: 'assistant' } : { type })
    items.set(place, item)
    return item
  }

  function partsOf(item: JsonFields, list: string): unknown[] {
    if (!Array.isArray(item[list])) item[list] = []
    return item[list] as unknown[]
  }

  function addDelta(event: JsonFields, delta: string): void {
    const rule = deltas[event.type as string]
    if (rule === undefined) return
    let into = itemAt(event, rule.item)
    if (rule.list !== undefined) {
      const parts = partsOf(into, rule.list)
      const place = placeIn(rule.list === 'content' ? event.content_index : event.summary_index)
      while (parts.length <= place) parts.push({ type: rule.part, [rule.text]: '' })
      into = parts[place] as JsonFields
    }
    const had = into[rule.text]
    into[rule.text] = (typeof had === 'string' ? had : '') + delta
  }

  return {
    isEmpty: () => base === undefined && items.size === 0 && images.length === 0,
    /** @param isFull only what tells of the end is taken */
    add(event: JsonFields, isFull: boolean): void {
      const { type, response, item, delta, part } = event
      if (isLosslessObject(response)) base = response
      if (isFull && !isLastEvent(event)) return
      if (typeof event.b64_json === 'string' && isLastEvent(event)) {
        const { type: _type, b64_json, created_at: created, ...rest } = event
        images.push({ b64_json })
        base = { ...(created === undefined ? {} : { created }), ...rest }
      }
      if (isLosslessObject(item) && /^response\.output_item\./.test(type as string))
        items.set(placeIn(event.output_index), item)
      else if (isLosslessObject(part) && type === 'response.content_part.done') {
        const parts = partsOf(itemAt(event, 'message'), 'content')
        parts[Math.min(placeIn(event.content_index), parts.length)] = part
      } else if (typeof delta === 'string') addDelta(event, delta)
    },
    result(): JsonFields {
      const listed = [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
      if (images.length > 0) return { ...base, data: images }
      const isWhole = Array.isArray(base?.output) && base.output.length > 0
      return isWhole || listed.length === 0 ? { ...base } : { ...base, output: listed }
    },
  }
}
