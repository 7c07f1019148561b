// Finds the audit events that may be missing: those that went by their age, as an event says that a checkpoint vouches
// for.
import { z } from 'zod'
import { type Head, hashOf, type SealedEvent } from './chain.ts'

/** A head with the time of the event, which events of earlier versions lack. */
const headSchema = z.object({ chain: z.string(), seq: z.int(), hash: z.string(), at_us: z.int().optional() })
export type NamedHead = z.infer<typeof headSchema>

const detailsSchema = z.object({
  heads: z.array(headSchema).default([]),
  after: headSchema.optional(),
  previous: headSchema.optional(),
  days: z.int().optional(),
})

/** An event that names heads of chains, and the days for which its process kept events. */
export type Naming = { event: SealedEvent; heads: readonly NamedHead[]; days: number | undefined }

/** A chain whose events up to the head are gone by age, and the retention by which they went. */
export type Excuse = Head & { days: number }

const dropped = 'audit.dropped'
const checkpoint = 'audit.checkpoint'
/** Actions of events that name heads. */
export const namesHeads: readonly string[] = ['audit.began', checkpoint, dropped]

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Whoever writes into the table may put any text there.
    return undefined
  }
}

/** The names in events, in the order of their times. One that was changed says nothing; it is found with all others. */
export function namingsOf(events: readonly SealedEvent[]): Naming[] {
  const namings = events.flatMap((event): Naming[] => {
    const { success, data } = detailsSchema.safeParse(jsonOf(event.details))
    if (!success || hashOf(event.prev, event) !== event.hash) return []
    const { heads, after, previous, days } = data
    return [{ event, heads: [...heads, after ?? [], previous ?? []].flat(), days }]
  })
  return namings.toSorted((a, b) => a.event.at_us - b.event.at_us)
}

/** Heads that have to be there, unless they went by age. */
export const knownHeads = (namings: readonly Naming[]): NamedHead[] =>
  namings.filter(({ event }) => event.action !== dropped).flatMap(({ heads }) => heads)

/** Whole months go: what was recorded from this time on is kept. */
export function keptFromMs(nowMs: number, days: number): number {
  const kept = new Date(nowMs - days * 86_400_000)
  return Date.UTC(kept.getUTCFullYear(), kept.getUTCMonth(), 1)
}

/** Start time of a chain, by its id (UUID version 7); 0 where the id has none. */
const beganMs = (chain: string): number =>
  /^[\da-f]{8}-[\da-f]{4}-7/.test(chain) ? Number.parseInt(chain.slice(0, 8) + chain.slice(9, 13), 16) : 0

/**
 * Up to which event each chain is vouched for: by every checkpoint; by what the anchor and the events before it name,
 * where one is given.
 */
function vouchedFor(namings: readonly Naming[], anchor: string | undefined): Map<string, number> {
  const upTo = new Map<string, number>()
  const raise = ({ chain, seq }: Head): boolean => {
    if (seq <= (upTo.get(chain) ?? 0)) return false
    upTo.set(chain, seq)
    return true
  }
  const checkpoints = namings.filter(({ event }) => event.action === checkpoint)
  if (anchor === undefined) {
    for (const { heads } of checkpoints) heads.forEach(raise)
    return upTo
  }
  let isRaised = checkpoints.some(({ event }) => event.hash === anchor && raise(event))
  // The latest first: what they name was there before them.
  const latest = namings.filter(({ event }) => event.action !== dropped).toReversed()
  while (isRaised) {
    isRaised = false
    for (const { event, heads } of latest)
      if (event.seq <= (upTo.get(event.chain) ?? 0)) for (const head of heads) isRaised = raise(head) || isRaised
  }
  return upTo
}

/**
 * The last event of each chain that may be missing. An event that says so counts when a checkpoint names it or one
 * behind it in its chain, with the same retention, and nothing shows that what went was younger.
 * @param anchor hash of the checkpoint that vouches, itself and by what is before it; absent = every checkpoint does
 */
export function excusesOf(namings: readonly Naming[], anchor?: string): Map<string, Excuse> {
  const upTo = vouchedFor(namings, anchor)
  const known = Map.groupBy(knownHeads(namings), ({ chain }) => chain)
  const retentionBy = ({ chain, seq }: Head): number | undefined =>
    namings.find(
      ({ event, heads }) =>
        event.action === checkpoint && heads.some((head) => head.chain === chain && head.seq >= seq),
    )?.days
  const excuses = new Map<string, Excuse>()
  for (const { event, heads, days = 0 } of namings) {
    if (event.action !== dropped || event.seq > (upTo.get(event.chain) ?? 0)) continue
    // Checkpoints of earlier versions say no retention.
    if (days < 1 || (retentionBy(event) ?? days) !== days) continue
    const keptMs = keptFromMs(event.at_us / 1000, days)
    const isYoung = ({ chain, seq }: Head): boolean =>
      beganMs(chain) >= keptMs ||
      (known.get(chain) ?? []).some((one) => one.seq <= seq && (one.at_us ?? 0) >= keptMs * 1000)
    for (const { chain, seq, hash } of heads)
      if (seq > (excuses.get(chain)?.seq ?? 0) && !isYoung({ chain, seq, hash }))
        excuses.set(chain, { chain, seq, hash, days })
  }
  return excuses
}
