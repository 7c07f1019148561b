// Whether chains of audit events are whole: every event as it was hashed, none missing, none added, none cut off.
import { hashOf, type SealedEvent } from './chain.ts'
import { excusesOf, knownHeads, namingsOf } from './excuses.ts'

type AuditFault = {
  chain: string
  seq: number
  /**
   * `changed`: an event is not what was hashed; `missing`: events before it are gone; `inserted`: it was not written by
   * the chain; `cut`: what was known to be behind it is gone; `unknown anchor`: no event has the hash that was given.
   */
  fault: 'changed' | 'missing' | 'inserted' | 'cut' | 'unknown anchor'
}

/** Events that went by age, and the days after which they did: several where the retention changed. */
type Gone = { events: number; days: number[] }

export type Verified = { events: number; chains: number; gone: Gone; faults: AuditFault[]; faultCount: number }

/** Number of faults that are listed; of more only the count is shown. */
const maxFaults = 1_000

const keyOf = (chain: string, seq: number): string => `${chain} ${seq}`

/**
 * @param naming the events that name heads (`namesHeads`)
 * @param pieces every stored row, chain by chain, in the order of their numbers
 * @param anchor hash of a checkpoint as a line of the log has told it: it has to be there, and only what it vouches for
 *   says what went by age
 */
export async function verifyChains(
  naming: readonly SealedEvent[],
  pieces: AsyncIterable<readonly SealedEvent[]>,
  anchor?: string,
): Promise<Verified> {
  const found: Verified = { events: 0, chains: 0, gone: { events: 0, days: [] }, faults: [], faultCount: 0 }
  const namings = namingsOf(naming)
  // Whoever names an event with another hash than others do does not make it right.
  const known = Map.groupBy(knownHeads(namings), ({ chain, seq }) => keyOf(chain, seq))
  const excuses = excusesOf(namings, anchor)
  const begins = new Map<string, number>()
  const ends = new Map<string, number>()
  let isAnchored = anchor === undefined
  let previous: SealedEvent | undefined
  const add = (fault: AuditFault['fault'], chain: string, seq: number): void => {
    found.faultCount++
    if (found.faults.length < maxFaults) found.faults.push({ chain, seq, fault })
  }
  /** Older events of the chain went by their age, up to the one that this one is hashed with. */
  const beginsByAge = ({ chain, seq, prev }: SealedEvent): boolean => {
    const last = excuses.get(chain)
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
    if (before === undefined) {
      found.chains++
      begins.set(chain, seq)
    }
    ends.set(chain, seq)
    if (hash === anchor) isAnchored = true
    if (hashOf(prev, event) !== hash) add('changed', chain, seq)
    else checkOrder(event, before)
    if (known.get(keyOf(chain, seq))?.some((head) => head.hash !== hash)) add('changed', chain, seq)
  }

  for await (const events of pieces) for (const event of events) check(event)
  const cut = new Set<string>()
  for (const { chain, seq } of [...known.values()].flat())
    if (seq > (ends.get(chain) ?? 0) && seq > (excuses.get(chain)?.seq ?? 0)) cut.add(chain)
  for (const chain of cut) add('cut', chain, ends.get(chain) ?? 0)
  for (const { chain, seq, days } of excuses.values()) {
    found.gone.events += Math.min(seq, (begins.get(chain) ?? Number.POSITIVE_INFINITY) - 1)
    if (!found.gone.days.includes(days)) found.gone.days.push(days)
  }
  if (!isAnchored) add('unknown anchor', '', 0)
  return found
}
