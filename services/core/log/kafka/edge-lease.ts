// The number of an edge among all that append to one log, leased: no two that live have the same one at a time.
import { randomInt, randomUUID } from 'node:crypto'
import { unavailable } from '../../errors.ts'
import type { LogLogger } from '../segments/writer.ts'

/** Claim of an edge; its newest one counts, and the number 0 gives up the one it had. */
export type Claim = { owner: string; number: number; isFixed: boolean }

/** An append-only list of claims in one order for all edges, with times of one clock. */
export type ClaimLog = {
  /** Position of the claim and time of its arrival; it may be there although this rejects. */
  append(claim: Claim): Promise<{ offset: number; atMs: number }>
  /** Claims that came before the one at `offset`, at `sinceMs` or later, in their order. */
  before(offset: number, sinceMs: number): Promise<Claim[]>
  close(): Promise<void>
}

export type EdgeLease = {
  /** The number that is this edge's at the moment. @throws Refusal while that is not certain */
  number(): number
  /** The reason why there is none at the moment, null when there is one. */
  problem(): string | null
  /** Renews the lease now; the timer does so by itself. @throws when it cannot be done */
  renew(): Promise<void>
  /** Gives the number up. */
  close(): Promise<void>
}

export type EdgeLeaseOptions = {
  claims: ClaimLog
  /** The number that the operator gave this edge, 0 = none: it is kept, and others keep off it. */
  fixed: number
  /** Numbers are leased from 1 to this one. */
  maxNumber: number
  /** Life of a lease that is not renewed; others wait twice as long, for clocks that differ. Default 30 s. */
  termMs?: number
  /** Clocks of this machine. One that stops while it sleeps, and one that is set, check each other. */
  clocks?: readonly (() => number)[]
  logger: LogLogger | undefined
}

const thisMachine = [() => performance.now(), () => Date.now()]

/** Numbers of the others by their newest claims. */
function heldBy(claims: readonly Claim[], own: string): Map<number, Claim> {
  const newest = new Map(claims.map((claim) => [claim.owner, claim]))
  newest.delete(own)
  return new Map([...newest.values()].map((claim) => [claim.number, claim]))
}

/**
 * Claims a number and keeps it until `close`. A claim holds when nobody else claimed the number in the twice the term
 * before it; of two at the same time the first one holds, which both see in the same order.
 * @throws Error when no number is free, or the fixed one is leased by another edge
 */
export async function leaseEdgeNumber(options: EdgeLeaseOptions): Promise<EdgeLease> {
  const { claims, fixed, maxNumber, termMs = 30_000, clocks = thisMachine, logger } = options
  const holdMs = 2 * termMs
  const owner = randomUUID()
  const read = () => clocks.map((clock) => clock())
  let number = fixed
  /** Readings at which the claim was sent that holds the number; null = it does not hold. */
  let sent: number[] | null = null
  /** Arrival of that claim, by the clock of the log. */
  let heldAtMs = Number.NEGATIVE_INFINITY
  let isFailing = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | null = null
  let isClosed = false

  const isHeld = (): boolean => {
    if (sent === null) return false
    const before = sent
    return read().every((now, i) => now - (before[i] as number) < termMs)
  }

  function free(held: ReadonlyMap<number, Claim>): number {
    const all = Array.from({ length: maxNumber }, (_, i) => i + 1).filter((one) => !held.has(one))
    if (all.length === 0) throw new Error(`All ${maxNumber} numbers of edges are in use, or were a minute ago`)
    return all[randomInt(all.length)] as number
  }

  function checkFixed(other: Claim | undefined): void {
    if (other === undefined) return
    if (!other.isFixed)
      throw new Error(`The edge number ${fixed} is leased by another process: set another one, or end that process`)
    logger?.warn({ edgeNumber: fixed }, 'another process has or had this edge number: no two that live may share one')
  }

  async function hold(): Promise<void> {
    for (let wanted = number || randomInt(1, maxNumber + 1); ; ) {
      const now = read()
      const { offset, atMs } = await claims.append({ owner, number: wanted, isFixed: fixed !== 0 })
      // Whoever claimed it in between saw the claim before, and kept off.
      const isUnbroken = wanted === number && atMs - heldAtMs < holdMs
      const held = isUnbroken ? undefined : heldBy(await claims.before(offset, atMs - holdMs), owner)
      if (fixed !== 0 && heldAtMs === Number.NEGATIVE_INFINITY) checkFixed(held?.get(fixed))
      if (fixed !== 0 || held === undefined || !held.has(wanted)) {
        if (number !== 0 && number !== wanted)
          logger?.warn({ before: number, edgeNumber: wanted }, 'the number of this edge was taken; it has another one')
        number = wanted
        sent = now
        heldAtMs = atMs
        isFailing = false
        return
      }
      sent = null
      heldAtMs = Number.NEGATIVE_INFINITY
      wanted = free(held)
    }
  }

  function renew(): Promise<void> {
    running ??= hold().finally(() => {
      running = null
    })
    return running
  }

  function schedule(waitMs: number): void {
    if (isClosed) return
    timer = setTimeout(() => {
      renew().then(
        () => schedule(termMs / 3),
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error)
          if (!isFailing) logger?.warn({ reason }, 'the number of this edge was not renewed; it is tried again')
          isFailing = true
          schedule(termMs / 30)
        },
      )
    }, waitMs)
    timer.unref()
  }

  /** Nobody waits then until the claim is old. */
  async function giveUp(): Promise<void> {
    sent = null
    await claims.append({ owner, number: 0, isFixed: false }).catch(() => undefined)
  }

  try {
    await hold()
  } catch (error) {
    await giveUp()
    throw error
  }
  schedule(termMs / 3)
  const problem = (): string | null =>
    fixed !== 0 || isHeld() ? null : 'The log does not accept writes: the number of this edge is not renewed'
  return {
    number() {
      const wrong = problem()
      if (wrong !== null) throw unavailable(wrong, 2)
      return number
    },
    problem,
    renew,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running?.catch(() => undefined)
      await giveUp()
      await claims.close()
    },
  }
}
