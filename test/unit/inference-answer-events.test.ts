// Events of streamed responses and images as the answer that is not streamed.
import { describe, expect, it } from 'vitest'
import { createAggregate } from '../../services/inference/aggregate.ts'

function answerOf(events: readonly object[]): unknown {
  const aggregate = createAggregate(1_000_000)
  for (const event of events) aggregate.add(JSON.parse(JSON.stringify(event)), 1)
  return aggregate.result('m')
}

describe('a response', () => {
  const response = { id: 'r', object: 'response', status: 'in_progress', model: 'm-2', output: [] }
  const event = (type: string, more: object) => ({ type: `response.${type}`, ...more })
  const begun = [
    event('created', { response }),
    event('output_item.added', { output_index: 0, item: { type: 'reasoning', id: 'i', summary: [] } }),
    event('reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'Hm' }),
    event('output_item.added', { output_index: 1, item: { type: 'message', id: 'j', role: 'assistant', content: [] } }),
    event('output_text.delta', { output_index: 1, content_index: 0, delta: 'Hel' }),
    event('output_text.delta', { output_index: 1, content_index: 0, delta: 'lo' }),
    event('output_item.added', { output_index: 2, item: { type: 'function_call', id: 'k', name: 'f', arguments: '' } }),
    event('function_call_arguments.delta', { output_index: 2, delta: '{"a":' }),
    event('function_call_arguments.delta', { output_index: 2, delta: '1}' }),
  ]
  const output = [
    { type: 'reasoning', id: 'i', summary: [{ type: 'summary_text', text: 'Hm' }] },
    { type: 'message', id: 'j', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
    { type: 'function_call', id: 'k', name: 'f', arguments: '{"a":1}' },
  ]

  it('is that of its last event', () => {
    const whole = { ...response, status: 'completed', output: [{ type: 'message' }] }
    expect(answerOf([...begun, event('completed', { response: whole })])).toEqual(whole)
  })

  it('is what had come when it was broken off, or when its last event has no output', () => {
    expect(answerOf(begun)).toEqual({ ...response, output })
    const empty = { ...response, status: 'completed' }
    expect(answerOf([...begun, event('completed', { response: empty })])).toEqual({ ...empty, output })
  })

  it('of images has the last ones', () => {
    const chunks = [
      { type: 'image_generation.partial_image', b64_json: 'AA' },
      { type: 'image_generation.completed', b64_json: 'BB', created_at: 5, usage: { total_tokens: 7 } },
    ]
    expect(answerOf(chunks)).toEqual({ created: 5, data: [{ b64_json: 'BB' }], usage: { total_tokens: 7 } })
  })
})
