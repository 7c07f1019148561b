// Verifying chains of audit events: whoever changes, drops, adds or cuts off stored events is found out.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAudit } from '../../services/core/audit/audit.ts'
import { type Head, hashOf, type SealedEvent } from '../../services/core/audit/chain.ts'
import { namesHeads } from '../../services/core/audit/excuses.ts'
import { verifyChains } from '../../services/core/audit/verify.ts'

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
    expect(await verify(events)).toEqual({
      events: 16,
      chains: 3,
      gone: { events: 0, days: [] },
      faults: [],
      faultCount: 0,
    })
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

  it('are not made right by another event that names a head with a forged hash', async () => {
    let prev = ''
    const anew = chain.map((one) => {
      const next = { ...one, actor: 'somebody else', prev }
      prev = hashOf(next.prev, next)
      return { ...next, hash: prev }
    })
    const stored = [...others]
    const foreign = createAudit({ sink: async (more) => void stored.push(...more), kind: 'server' })
    const heads = anew.slice(-1).map(({ chain, seq, hash }) => ({ chain, seq, hash }))
    await foreign.recordHeads('audit.checkpoint', { heads })
    expect(await faultsOf([...stored, ...anew])).toEqual([['changed', 5]])
  })
})

describe('what went by its age', () => {
  const day = 86_400_000
  const start = Date.UTC(2025, 0, 10)
  let now = start
  const headOf = ({ chain, seq, hash, at_us }: SealedEvent) => ({ chain, seq, hash, at_us })
  type World = { stored: SealedEvent[]; audit: ReturnType<typeof createAudit> }
  const process = (stored: SealedEvent[]) =>
    createAudit({ sink: async (more) => void stored.push(...more), kind: 'server', now: () => now })
  const checkpoint = ({ stored, audit }: World, days = 30) => {
    const previous = stored.findLast(({ action }) => action === 'audit.checkpoint')
    const heads = [...new Map(stored.map((event) => [event.chain, headOf(event)])).values()]
    return audit.recordHeads('audit.checkpoint', { days, heads, ...(previous && { previous: headOf(previous) }) })
  }
  const excuse = (audit: World['audit'], head: object, days = 30) =>
    audit.recordHeads('audit.dropped', { days, heads: [head] })

  /** A server that records three events a day and a checkpoint behind them, for 100 days. */
  async function running(): Promise<World> {
    now = start
    const stored: SealedEvent[] = []
    const audit = process(stored)
    for (let n = 0; n < 100; n++, now += day) {
      for (const target of ['a', 'b', 'c']) await audit.record({ action: 'key.created', scope: 'acme', target })
      await checkpoint({ stored, audit })
    }
    return { stored, audit }
  }
  /** Number of the last event before the day. */
  const lastBefore = ({ stored }: World, ms: number) => stored.findLast(({ at_us }) => at_us < ms * 1000) as SealedEvent

  it('may be gone, where a checkpoint vouches for who says so; how many went is told', async () => {
    const world = await running()
    // It is 20 April: what was recorded before March has gone.
    const last = lastBefore(world, Date.UTC(2025, 2, 1))
    await excuse(world.audit, headOf(last))
    const kept = () => world.stored.filter(({ seq }) => seq > last.seq)
    expect(await faultsOf(kept())).toEqual([['missing', last.seq + 1]])
    const { hash } = await checkpoint(world)
    const gone = { events: last.seq, days: [30] }
    expect(await verify(kept())).toMatchObject({ gone, faultCount: 0 })
    expect(await verify(kept(), hash)).toMatchObject({ gone, faultCount: 0 })
    // Those that are there still did not go.
    expect((await verify(world.stored)).gone.events).toBe(0)
    expect(await faultsOf(world.stored.filter(({ seq }) => seq > last.seq + 1))).toEqual([['missing', last.seq + 2]])
  })

  it('is not what an event of a foreign chain says, whatever it says of itself', async () => {
    const world = await running()
    const { hash: anchor } = await checkpoint(world)
    const old = lastBefore(world, Date.UTC(2025, 2, 1))
    const forged: SealedEvent[] = []
    const foreign = process(forged)
    await excuse(foreign, headOf(old))
    const kept = [...world.stored.filter(({ seq }) => seq > old.seq), ...forged]
    expect(await faultsOf(kept)).toEqual([['missing', old.seq + 1]])
    // A checkpoint of its own is none that the anchor knows.
    await checkpoint({ stored: forged, audit: foreign })
    const { faults } = await verify([...kept, ...forged.slice(1)], anchor)
    expect(faults).toEqual([{ chain: old.chain, seq: old.seq + 1, fault: 'missing' }])
  })

  it.each([
    ['yesterday', () => now - day, 30],
    ['within the month of the retention', () => Date.UTC(2025, 2, 2), 30],
    ['within another retention than that of the checkpoint', () => Date.UTC(2025, 3, 1), 1],
  ])('is nothing of %s, though a checkpoint came to name who says so', async (_, until, days) => {
    const world = await running()
    const last = lastBefore(world, until())
    const forged: SealedEvent[] = []
    await excuse(process(forged), headOf(last), days)
    world.stored.push(...forged)
    await checkpoint(world)
    const kept = world.stored.filter(({ chain, seq }) => chain !== last.chain || seq > last.seq)
    expect((await verify(kept)).gone.events).toBe(0)
    expect(await faultsOf(kept)).toContainEqual(['missing', last.seq + 1])
  })

  it('is nothing of a chain that began within the retention', async () => {
    const stored: SealedEvent[] = []
    const [server, young] = [process(stored), process(stored)]
    for (let n = 0; n < 5; n++) await young.record({ action: 'key.created', scope: 'acme', target: `k${n}` })
    await excuse(server, headOf(stored[2] as SealedEvent))
    await checkpoint({ stored, audit: server })
    expect(await faultsOf(stored.slice(3))).toEqual([['missing', 4]])
  })

  it('is nothing that a row with unreadable details says', async () => {
    const { stored } = await running()
    const foreign = { ...(stored[0] as SealedEvent), chain: 'foreign', action: 'audit.dropped', details: '{' }
    const row = { ...foreign, hash: hashOf('', foreign) }
    expect((await verify([...stored, row])).faultCount).toBe(0)
  })
})
