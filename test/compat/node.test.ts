// The published Node SDK traces a program against the server and reads it back.
// smoke: node
import { describe, expect, it } from 'vitest'
import { runNode } from '../fixtures/node-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Seen = {
  op: string
  inputs: Record<string, unknown>
  output: unknown
  exception: string | null
  parent: string | null
  status: string
  ended: boolean
}

describe('Node SDK', () => {
  const server = sdkServer()

  it('traces nested, failing and concurrent operations and reads them back', async () => {
    const { calls } = await runNode<{ calls: Seen[] }>('program.mjs', ['compat/node'], server)
    const named = (name: string) => calls.filter((call) => call.op.includes(`/op/${name}:`))
    expect(calls.every((call) => call.ended)).toBe(true)
    expect(named('outer')).toHaveLength(1)
    expect(named('outer')[0]).toMatchObject({ output: { sum: 2, text: 'héllo 😀' }, status: 'success', parent: null })
    expect(named('add')).toHaveLength(4)
    expect(named('add').filter((call) => call.parent !== null)).toHaveLength(1)
    expect(named('fails')[0]).toMatchObject({ status: 'error', exception: expect.stringContaining('boom') })
  })
})
