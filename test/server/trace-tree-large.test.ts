// tier: deep slow
// POST /trace/tree of more spans than one statement reads.
import { beforeAll, expect, it } from 'vitest'
import type { z } from 'zod'
import { traceTreeResponse } from '../../schemas/trace-tree.ts'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const project = 'acme/tree'
type Tree = z.output<typeof traceTreeResponse>

async function ask(path: string, body: unknown): Promise<string> {
  const { status, text } = await post(server.now().url, path, body)
  expect([path, status, text.slice(0, 300)]).toEqual([path, 200, text.slice(0, 300)])
  return text
}
const treeOf = async (trace_id: string): Promise<Tree> =>
  traceTreeResponse.parse(JSON.parse(await ask('/trace/tree', { project_id: project, trace_id })))

let ids = 0
const newId = (): string => String(++ids).padStart(16, '0')
const newTrace = (): string => String(++ids).padStart(32, 'a')
const at = (ms: number): string => new Date(1_772_700_000_000 + ms).toISOString()

type Made = { id?: string; trace: string; parent?: string | null; from?: number; to?: number; more?: object }
const started = ({ id = newId(), trace: trace_id, parent: parent_id = null, from = 0, more }: Made) => ({
  project_id: project,
  id,
  trace_id,
  parent_id,
  op_name: 'step',
  started_at: at(from),
  attributes: {},
  inputs: {},
  ...more,
})
const whole = (made: Made) => {
  const { to = 10 } = made
  return { ended_at: at(to), output: null, summary: {}, ...started(made) }
}
const send = (...batch: object[]) => ask('/v2/acme/tree/calls/complete', { batch })

it('a trace of more spans than one statement reads is whole, with every kind, and what is beside them is read once', async () => {
  const trace = newTrace()
  const count = 32_500
  const idOf = (n: number) => String(n).padStart(16, 'd')
  const parent = idOf(0)
  for (let from = 0; from < count; from += 2_500)
    await send(
      ...Array.from({ length: Math.min(2_500, count - from) }, (_, n) => {
        const at = from + n
        const attributes = { operation_name: at % 2 === 0 ? 'chat' : 'execute_tool' }
        const id = idOf(at)
        return whole({ id, trace, parent: at === 0 ? null : parent, from: at % 50, to: 60, more: { attributes } })
      }),
    )
  const { store } = server.now()
  const { bytes } = store
  const read: string[] = []
  store.bytes = (query, ...rest) => {
    read.push(query.name)
    return bytes(query, ...rest)
  }
  const tree = await treeOf(trace)
  store.bytes = bytes
  const times = (name: string) => read.filter((one) => one === name).length
  expect(['calls.page', 'trace-tree.kinds', 'trace-tree.feedback'].map(times)).toEqual([2, 1, 1])
  expect(tree.id).toHaveLength(count)
  expect(new Set(tree.id).size).toBe(count)
  expect(tree.start_us).toEqual([...tree.start_us].sort((a, b) => a - b))
  expect([tree.kinds.toSorted(), tree.kind.filter((place) => place === -1)]).toEqual([['chat', 'execute_tool'], []])
  expect(tree.orphans).toEqual([])
  expect(tree.is_cut).toBe(false)
})
