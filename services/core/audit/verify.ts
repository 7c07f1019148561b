// Whether chains of audit events are whole: every event as it was hashed, none missing, none added, none cut off.
import { z } from 'zod'
import { type Head, hashOf, type SealedEvent } from './chain.ts'

type AuditFault = {
  chain: string
  seq: number
  /**
   * `changed`: an event is not what was hashed; `missing`: events before it are gone; `inserted`: it was not written by
   * the chain; `cut`: what was known to be behind it is gone; `unknown anchor`: no event has the hash that was given.
   */
  fault: 'changed' | 'missing' | 'inserted' | 'cut' | 'unknown anchor'
}

export type Verified = { events: number; chains: number; faults: AuditFault[]; faultCount: number }

const headSchema = z.object({ chain: z.string(), seq: z.int(), hash: z.string() })
const headsSchema = z.object({ heads: z.array(headSchema).optional(), after: headSchema.optional() })

/** Of more faults only the number is told. */
const maxFaults = 1_000

/** Heads that an event names: those that its process knew, or that were dropped by age. */
function headsIn({ details }: SealedEvent): Head[] {
  if (details === '') return []
  const parsed = headsSchema.safeParse(JSON.parse(details))
  return parsed.success ? [...(parsed.data.heads ?? []), ...(parsed.data.after ? [parsed.data.after] : [])] : []
}

/** Actions of events that name heads. */
export const namesHeads: readonly string[] = ['audit.began', 'audit.checkpoint', 'audit.dropped']

const keyOf = (chain: string, seq: number): string => `${chain} ${seq}`

/** What events name: heads that must be there, and by chain the last that went by age. */
function namedHeads(naming: readonly SealedEvent[]) {
  const known = new Map<string, Head>()
  const dropped = new Map<string, Head>()
  for (const event of naming) {
    // One that was changed says nothing; it is found with all others.
    if (hashOf(event.prev, event) !== event.hash) continue
    for (const head of headsIn(event))
      if (event.action !== 'audit.dropped') known.set(keyOf(head.chain, head.seq), head)
      else if (head.seq > (dropped.get(head.chain)?.seq ?? 0)) dropped.set(head.chain, head)
  }
  return { known, dropped }
}

/**
 * @param naming the events that name heads (`namesHeads`)
 * @param pieces every stored row, chain by chain, in the order of their numbers
 * @param anchor hash of a checkpoint as a line of the log has told it
 */
export async function verifyChains(
  naming: readonly SealedEvent[],
  pieces: AsyncIterable<readonly SealedEvent[]>,
  anchor?: string,
): Promise<Verified> {
  const found: Verified = { events: 0, chains: 0, faults: [], faultCount: 0 }
  const { known, dropped } = namedHeads(naming)
  const ends = new Map<string, number>()
  let isAnchored = anchor === undefined
  let previous: SealedEvent | undefined
  const add = (fault: AuditFault['fault'], chain: string, seq: number): void => {
    found.faultCount++
    if (found.faults.length < maxFaults) found.faults.push({ chain, seq, fault })
  }
  /** Older events of the chain went by their age, up to the one that this one is hashed with. */
  const beginsByAge = ({ chain, seq, prev }: SealedEvent): boolean => {
    const last = dropped.get(chain)
    return last !== undefined && (last.seq >= seq || (last.seq === seq - 1 && last.hash === prev))
  }

  function checkOrder(event: SealedEvent, before: SealedEvent | undefined): void {
    const { chain, seq, prev } = event
    if (seq !== (before?.seq ?? 0) + 1) {
      if (before !== undefined || !beginsByAge(event)) add('missing', chain, seq)
    } else if (prev !== (before?.hash ?? '')) add('changed', chain, seq - 1)
  }

  function check(event: SealedEvent): void {
    const { chain, seq, prev, hash } = event
    const before = previous?.chain === chain ? previous : undefined
    if (before?.seq === seq) {
      // A row that was applied twice is no fault.
      if (JSON.stringify(before) !== JSON.stringify(event)) add('inserted', chain, seq)
      return
    }
    previous = event
    found.events++
    if (before === undefined) found.chains++
    ends.set(chain, seq)
    if (hash === anchor) isAnchored = true
    if (hashOf(prev, event) !== hash) add('changed', chain, seq)
    else checkOrder(event, before)
    const named = known.get(keyOf(chain, seq))
    if (named !== undefined && named.hash !== hash) add('changed', chain, seq)
  }

  for await (const events of pieces) for (const event of events) check(event)
  const cut = new Set<string>()
  for (const { chain, seq } of known.values())
    if (seq > (ends.get(chain) ?? 0) && seq > (dropped.get(chain)?.seq ?? 0)) cut.add(chain)
  for (const chain of cut) add('cut', chain, ends.get(chain) ?? 0)
  if (!isAnchored) add('unknown anchor', '', 0)
  return found
}
