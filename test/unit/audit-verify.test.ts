// Verifying chains of audit events: whoever changes, drops, adds or cuts off stored events is found out.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAudit } from '../../services/core/audit/audit.ts'
import { type Head, hashOf, type SealedEvent } from '../../services/core/audit/chain.ts'
import { namesHeads, verifyChains } from '../../services/core/audit/verify.ts'

/** As the store gives them. */
async function* inOrder(events: readonly SealedEvent[]) {
  const sorted = events.toSorted((a, b) => (a.chain === b.chain ? a.seq - b.seq : a.chain < b.chain ? -1 : 1))
  yield sorted.slice(0, 3)
  yield sorted.slice(3)
}
const verify = (events: readonly SealedEvent[], anchor?: string) =>
  verifyChains(
    events.filter(({ action }) => namesHeads.includes(action)),
    inOrder(events),
    anchor,
  )
const faultsOf = async (events: readonly SealedEvent[]) =>
  (await verify(events)).faults.map(({ fault, seq }) => [fault, seq])

/** Three chains, and a checkpoint in the last one that names the heads of the others. */
async function world(): Promise<SealedEvent[]> {
  const stored: SealedEvent[] = []
  const sink = async (events: readonly SealedEvent[]) => void stored.push(...events)
  const audits = [1, 2, 3].map(() => createAudit({ sink, kind: 'server' }))
  for (let n = 0; n < 5; n++)
    for (const audit of audits) await audit.record({ action: 'key.created', scope: 'acme', target: `k${n}` })
  const heads = stored.slice(-3, -1).map(({ chain, seq, hash }): Head => ({ chain, seq, hash }))
  await audits[2]?.recordHeads('audit.checkpoint', { heads })
  return stored
}

describe('chains', () => {
  let events: SealedEvent[]
  let chain: SealedEvent[]
  let others: SealedEvent[]
  beforeAll(async () => {
    events = await world()
    chain = events.filter((event) => event.chain === events[0]?.chain)
    others = events.filter((event) => event.chain !== events[0]?.chain)
  })

  it('that nobody touched are whole, also where rows were applied twice', async () => {
    expect(await verify(events)).toEqual({ events: 16, chains: 3, faults: [], faultCount: 0 })
    expect((await verify([...events, ...events])).faultCount).toBe(0)
    expect((await verify(events, events.at(-1)?.hash)).faultCount).toBe(0)
    expect((await verify(events, 'another')).faults).toEqual([{ chain: '', seq: 0, fault: 'unknown anchor' }])
  })

  it('show any changed character, whichever event and column it is in', async () => {
    const columns = [
      'scope',
      'actor',
      'key_id',
      'address',
      'action',
      'target',
      'request_id',
      'details',
      'prev',
      'hash',
    ] as const
    await fc.assert(
      fc.asyncProperty(fc.nat(events.length - 1), fc.constantFrom(...columns), fc.nat(), async (at, column, place) => {
        const event = events[at] as SealedEvent
        const text = event[column]
        const cut = place % (text.length + 1)
        const changed = { ...event, [column]: `${text.slice(0, cut)}~${text.slice(cut + 1)}` }
        expect((await verify(events.with(at, changed))).faultCount).toBeGreaterThan(0)
      }),
    )
    for (const name of ['at_us', 'ends_from', 'ends_to'] as const)
      expect(await faultsOf([...others, ...chain.with(1, { ...(chain[1] as SealedEvent), [name]: 7 })])).toEqual([
        ['changed', 2],
      ])
  })

  it('show an event that was changed and hashed anew', async () => {
    const event = { ...(chain[1] as SealedEvent), actor: 'somebody else' }
    const forged = { ...event, hash: hashOf(event.prev, event) }
    expect(await faultsOf([...others, ...chain.with(1, forged)])).toEqual([['changed', 2]])
    // Even when all behind it are hashed anew: a checkpoint names the head.
    let prev = ''
    const anew = chain.map((one) => {
      const next = { ...one, actor: 'somebody else', prev }
      prev = hashOf(next.prev, next)
      return { ...next, hash: prev }
    })
    expect(await faultsOf([...others, ...anew])).toEqual([['changed', 5]])
  })

  it('show a missing event, one that was put beside another, a cut tail and a chain that is gone', async () => {
    expect(await faultsOf([...others, ...chain.toSpliced(2, 1)])).toEqual([['missing', 4]])
    expect(await faultsOf([...others, ...chain.slice(1)])).toEqual([['missing', 2]])
    const [first] = chain as [SealedEvent]
    const beside = { ...first, target: 'other' }
    expect(await faultsOf([...others, ...chain.toSpliced(1, 0, { ...beside, hash: hashOf('', beside) })])).toEqual([
      ['inserted', 1],
    ])
    expect(await faultsOf([...others, ...chain.slice(0, 4)])).toEqual([['cut', 4]])
    expect(await faultsOf(others)).toEqual([['cut', 0]])
  })

  it('may begin behind what was dropped by age, and nowhere else', async () => {
    const stored = [...others]
    const audit = createAudit({ sink: async (more) => void stored.push(...more), kind: 'server' })
    const { seq, hash } = chain[1] as SealedEvent
    await audit.recordHeads('audit.dropped', { heads: [{ chain: chain[0]?.chain, seq, hash }] })
    expect(await faultsOf([...stored, ...chain.slice(2)])).toEqual([])
    expect(await faultsOf([...stored, ...chain])).toEqual([])
    expect(await faultsOf([...stored, ...chain.slice(3)])).toEqual([['missing', 4]])
  })
})
