// The checked-in WebAssembly module is what its sources compile to, and a machine that cannot run it needs none.
import { readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { buildModules } from '../../scripts/wasm.ts'
import { batchModule } from '../../services/ingest/calls/batch-module.ts'
import { fieldNames } from '../../services/ingest/calls/envelope.ts'
import { wireNames } from '../../services/ingest/calls/fragment-checks.ts'
import { createCallsWrite, endItem, startItem } from '../fixtures/calls-write.ts'

const wasm = (globalThis as unknown as { WebAssembly: { validate(code: Uint8Array): boolean } }).WebAssembly
afterEach(() => vi.restoreAllMocks())

test('the modules are built from their sources (npm run wasm)', async () => {
  for (const { file, built } of await buildModules()) expect(built.equals(readFileSync(file)), file).toBe(true)
})

test('without SIMD, and switched off, JavaScript reads every batch', async () => {
  const batch = { batch: [startItem(), endItem()] }
  const validate = vi.spyOn(wasm, 'validate').mockReturnValue(false)
  const names = { wirePrefix: 'wb', wireAliases: false } as const
  for (const [deps, looks] of [
    [{ ...names, edgeWasm: false }, 0],
    [names, 1],
  ] as const) {
    validate.mockClear()
    const edge = createCallsWrite(deps)
    expect((await edge.post('/call/upsert_batch', batch)).status).toBe(200)
    expect((await edge.post('/call/upsert_batch', batch)).status).toBe(200)
    expect(edge.rows().map(({ kind }) => kind)).toEqual(['complete', 'complete'])
    expect(validate).toHaveBeenCalledTimes(looks)
  }
  expect(batchModule(fieldNames(wireNames('wb', false)))).toBeNull()
  validate.mockRestore()
  expect(batchModule(fieldNames(wireNames('platform', false)))).not.toBeNull()
})
