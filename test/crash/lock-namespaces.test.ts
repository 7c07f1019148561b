// tier: deep crash
// Two PID namespaces with one host name on one folder, as containers have: one at a time, and nothing is lost.
import { describe, expect, test } from 'vitest'
import { readSegments } from '../../services/core/log/segments/read.ts'
import { temporaryFolder } from '../fixtures/log.ts'
import { hasNamespaces, startLogProcess } from '../fixtures/log-process.ts'
import { createRandom } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'

/** A caller that only asks: however long a holder is held up, one that is silent for less than a minute lives. */
const patient = { waitMs: 100, beatMs: 60_000, silenceMs: 60_000 }
const locks = [
  { by: 'the kernel', rounds: runs(3, 20), lock: {} },
  // A tenth of the times of the product.
  {
    by: 'the file',
    rounds: runs(2, 20),
    lock: { kernel: 'none', beatMs: 500, silenceMs: 2000, certainMs: 800, settleMs: 1000 },
  },
]

describe.skipIf(!hasNamespaces)('processes of two PID namespaces with one host name', () => {
  test.for(locks)(
    'lose nothing that was acknowledged, by the lock of $by, over $rounds rounds of a second start, kill -9 and a start at once',
    async ({ rounds, lock }) => {
      const dir = await temporaryFolder()
      const random = createRandom(11)
      const offsetOf = new Map<string, number>()
      for (let round = 1; round <= rounds; round++) {
        const holder = startLogProcess(dir, { round, isNamespace: true, lock })
        await holder.more(20 + random.below(200))
        const second = await startLogProcess(dir, {
          round: `second-${round}`,
          isNamespace: true,
          lock: { ...lock, ...patient },
        }).ended
        expect(second.code).toBe(1)
        expect(second.stderr).toContain(`${dir} is in use by process 1 on `)
        expect(second.stderr).toContain('in another container or PID namespace')
        // The holder goes on as before.
        await holder.more(20)
        holder.kill()
        if (round % 2 === 0) await holder.ended
        for (const { id, offset } of holder.acknowledged) offsetOf.set(id, offset)
      }
      const last = startLogProcess(dir, { isNamespace: true, lock })
      await last.opened
      const found: string[] = []
      for await (const { header, rows } of readSegments({ dir, topic: 'calls' })) {
        expect(header.offset).toBe(found.length + 1)
        found.push((JSON.parse(rows.toString()) as { id: string }).id)
      }
      expect([...offsetOf].filter(([id, offset]) => found[offset - 1] !== id)).toEqual([])
      expect(new Set(found).size).toBe(found.length)
      expect(offsetOf.size).toBeGreaterThan(rounds * 40)
      expect(found.filter((id) => id.startsWith('second'))).toEqual([])
    },
  )
})
