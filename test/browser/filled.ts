// A project with a trace of every kind of span, a long list, and a call that may have many megabytes.
import { call, newId, newTrace, startWorld, type World } from './world.ts'

export type Filled = World & {
  home: string
  trace: string
  root: string
  failed: string
  answered: string
  bigId: string
}

/** @param withBig whether the call of many megabytes is there: it takes seconds */
export async function startFilled({ withBig = false, project: name = 'acme/browser' } = {}): Promise<Filled> {
  const world = await startWorld(name)
  const { project } = world
  const [trace, root, failed, answered, second, bigId] = [newTrace(), newId(), newId(), newId(), newTrace(), newId()]
  const at = Date.now() - 120_000
  const usage = { 'model-a': { prompt_tokens: 1200, completion_tokens: 34, requests: 1 } }
  const system = Array.from({ length: 20 }, (_, n) => `Rule ${n}: <b>be kind</b>`).join('\n')
  const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{"order":8812}' } }]
  const said = {
    inputs: {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: 'Where is my order?\n\n  8812' },
        { role: 'assistant', content: null, tool_calls },
        { role: 'tool', tool_call_id: 'c1', content: 'shipped' },
      ],
    },
    output: { choices: [{ message: { role: 'assistant', content: 'It is on its way.' } }] },
  }
  const below = (name: string, from: number, ms: number, more: object = {}) =>
    call(project, { trace, parent: root, name, startMs: at + from, ms, ...more })
  await world.send([
    call(project, { id: root, trace, name: 'support_agent', startMs: at, ms: 4_000, inputs: { order: 8812 } }),
    below('chat first', 100, 900, { usage }),
    below('execute_tool search', 1_000, 2_000),
    below('fetch', 1_100, 300, { id: failed, exception: 'Error: timeout\n  at fetch' }),
    below('chat second', 3_000, 900, { id: answered, usage, ...said }),
    call(project, { trace: second, name: 'other', startMs: at - 1_000 }),
    ...Array.from({ length: 250 }, (_, n) => call(project, { name: 'many', startMs: at - 10_000 - n, ms: n })),
    call(project, {
      id: bigId,
      trace: newTrace(),
      name: 'big',
      startMs: at - 5_000,
      inputs: {
        ...(withBig && { text: 'a long line '.repeat(1_000_000) }),
        list: Array.from({ length: withBig ? 100_000 : 1 }, (_, n) => ({ n })),
        inner: '{"deep":{"found":1.0}}',
      },
      output: [12345678901234567890n, 1].map(String),
    }),
  ])
  return { ...world, home: `/p/${project}/calls`, trace, root, failed, answered, bigId }
}
