// Answers of the engine that are given back are nobody else's.
import { expect, it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import { giveBack, ofEngine } from '../../services/core/memory/engine-bytes.ts'
import { recordLines } from '../../services/query/calls/stream.ts'
import { callHeader } from '../fixtures/call-header.ts'

it('the memory of an answer is given back by any part of it, that of other buffers is left', () => {
  const answer = ofEngine(new Uint8Array([1, 2, 3]))
  const foreign = Buffer.from('of the memory that small buffers are cut from')
  giveBack([foreign, answer.subarray(1, 2), answer.subarray(2)])
  expect(answer.buffer.byteLength).toBe(0)
  expect(foreign.toString()).toBe('of the memory that small buffers are cut from')
})

it('payloads are given back once their lines are written', async () => {
  const long = (value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(value))
    return bytes
  }
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  // Columns of payloads.ts: time, id, the whole of a call, its clock, and the document.
  const answers = [1, 2].map((n) =>
    ofEngine(Uint8Array.from(Buffer.concat([long(n), text(`c${n}`), Buffer.from([0]), long(9), text(`{"n":${n}}`)]))),
  )
  const given = [...answers]
  const rowOf = (n: number) => callHeader({ id: `c${n}`, startedUs: n, endedUs: n, outputUs: n })
  async function* pages() {
    for (const n of [1, 2]) yield { rows: [rowOf(n)], spread: 'dense' as const }
  }
  const lines: string[] = []
  for await (const chunk of recordLines(pages(), {
    store: { bytes: async () => given.shift() ?? expect.unreachable() },
    projectId: 'e/p' as ProjectId,
    documents: ['inputs'],
    shape: {
      projectId: 'e/p',
      prefix: 'platform',
      columns: new Set(['inputs']),
      storageSize: false,
      usernames: false,
      totalSizes: null,
      costs: null,
      payloadsFromUs: 0,
      feedback: null,
      areRoots: false,
    },
    totalSize: false,
    feedback: false,
    expansion: null,
    isLong: false,
    options: {},
  }))
    lines.push(...chunk.toString().trim().split('\n'))
  expect(lines.map((line) => JSON.parse(line).inputs)).toEqual([{ n: 1 }, { n: 2 }])
  expect(answers.map(({ buffer }) => buffer.byteLength)).toEqual([0, 0])
})
