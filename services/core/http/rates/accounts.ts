// Limits of keys, projects and entities: what each request is charged for, and what is counted of it.
import type { KeyLimits, ProjectLimits } from '../../../../schemas/project-settings.ts'
import type { RatePolicy } from '../../errors.ts'
import type { Account, Amount } from '../../process/running-handler.ts'
import type { Fault } from '../errors.ts'
import type { KeyHolder } from '../holder.ts'
import type { Route } from '../route.ts'
import { type Buckets, createBuckets } from './buckets.ts'
import type { Counts, Meter } from './meter.ts'
import { quotaFault, rateFault, rateHeaders, type Standing } from './policies.ts'
import type { Quotas } from './quotas.ts'

/** The limits that operators have set; undefined = nothing. They are read with every request. */
export type LimitSettings = {
  /** Limits by bucket: keys that were made by others share theirs. */
  ofKey(keyId: string): readonly (readonly [bucket: string, limits: KeyLimits])[]
  ofProject(projectId: string): ProjectLimits | undefined
}

type Outcome = { isRefused: boolean; bytesIn: number; bytesOut: number; ms: number }

/** The account of a request that came over the network. */
export type RequestAccount = Account & {
  /** Headers of the limits of which less than a quarter is left. */
  headers(): Record<string, string> | undefined
  /** The request is over, its answer sent: gives its places back. Once. */
  end(outcome: Outcome): void
}

export type Accounts = {
  /** @throws Fault 429 when the key has had its requests of a minute */
  begin(holder: KeyHolder, route: Pick<Route, 'right'>): RequestAccount
  /** Rows of the server's own work: counted, not limited. */
  appended(amounts: ReadonlyMap<string, Amount>): void
}

export type AccountDeps = {
  settings: LimitSettings
  quotas: Quotas
  meter: Meter
  /** Processes that take requests: each has its share of a limit. */
  edges?: number
  /** Status of refusals by quotas that last. */
  quotaStatus?: 403 | 429
  now?: () => number
  random?: () => number
}

const ownWork = ''

type Charge = { policy: RatePolicy; name: string; perMinute: number; amount: number }

/** Routes that set limits are not limited. */
const isFree = ({ right }: Pick<Route, 'right'>): boolean => right === 'admin' || right === 'owner'
const isRead = ({ right }: Pick<Route, 'right'>): boolean => right === 'read'
/** Money spent at a provider is always recorded: its rows are charged, and never refused. */
const isInference = ({ right }: Pick<Route, 'right'>): boolean =>
  right === 'infer' || (typeof right === 'object' && 'all' in right && right.all.includes('infer'))

type AccountsState = AccountDeps & {
  buckets: Buckets
  /** Requests that read at this time, by project and pool. */
  reading: Map<string, number>
}

/** Limits of which less than a quarter is left. */
type LowLimits = Map<RatePolicy, Charge>

export function createAccounts(deps: AccountDeps): Accounts {
  const accounts: AccountsState = {
    ...deps,
    buckets: createBuckets({ now: deps.now ?? Date.now }),
    reading: new Map(),
  }
  return {
    begin: (holder, route) => beginAccount(accounts, holder, route),
    appended(amounts) {
      for (const [projectId, amount] of amounts) count(accounts, projectId, ownWork, amount)
    },
  }
}

const shareOf = ({ edges = 1 }: AccountsState, limit: number | undefined): number =>
  limit ? Math.max(1, Math.floor(limit / edges)) : 0

function standingOf({ buckets }: AccountsState, { policy, name, perMinute }: Charge): Standing {
  const { amount, fullMs } = buckets.left(name, perMinute)
  return { policy, quota: perMinute, left: amount, resetSeconds: Math.ceil(fullMs / 1000) }
}

/** All or none of them. @throws Fault 429 */
function charge(accounts: AccountsState, charges: readonly Charge[], low: LowLimits, mayRefuse = true): void {
  const { buckets, random = Math.random } = accounts
  const taken: Charge[] = []
  for (const one of charges) {
    const waitMs = buckets.take(one.name, one.perMinute, one.amount)
    if (waitMs === undefined || !mayRefuse) taken.push(one)
    else {
      giveBack(accounts, taken)
      throw rateFault({ ...standingOf(accounts, one), left: 0 }, waitMs, random)
    }
    if (buckets.isLow(one.name, one.perMinute)) setLow(accounts, low, one)
  }
}

/** The headers describe the bucket that ends first, where a key shares several. */
function setLow(accounts: AccountsState, low: LowLimits, one: Charge): void {
  const other = low.get(one.policy)
  const isLower = () => standingOf(accounts, one).left < standingOf(accounts, other as Charge).left
  if (other === undefined || other.name === one.name || isLower()) low.set(one.policy, one)
}

function giveBack({ buckets }: AccountsState, charges: readonly Charge[]): void {
  for (const { name, amount } of charges) buckets.give(name, amount)
}

/** Nothing is charged where there is no limit, or nothing to count. */
function chargesOf(
  accounts: AccountsState,
  policy: RatePolicy,
  id: string,
  limit: number | undefined,
  amount: number,
): Charge[] {
  const perMinute = shareOf(accounts, limit)
  return perMinute === 0 || amount === 0 ? [] : [{ policy, name: `${policy} ${id}`, perMinute, amount }]
}

const appendCharges = (
  accounts: AccountsState,
  kind: 'key' | 'project',
  id: string,
  limits: KeyLimits | ProjectLimits | undefined,
  { calls, bytes }: Amount,
): Charge[] =>
  limits === undefined
    ? []
    : [
        ...chargesOf(accounts, `${kind}-calls`, id, limits.calls_per_minute, calls),
        ...chargesOf(accounts, `${kind}-bytes`, id, limits.bytes_per_minute, bytes),
      ]

/** @returns what gives the place back; undefined where places are not limited */
function takePlace(
  { reading }: AccountsState,
  projectId: string,
  kind: 'reads' | 'exports',
  limit: number | undefined,
): (() => void) | undefined {
  if (!limit) return undefined
  const name = `${kind} ${projectId}`
  const taken = reading.get(name) ?? 0
  if (taken >= limit)
    throw rateFault({ policy: `project-${kind}`, quota: limit, left: 0, resetSeconds: 1 }, 1_000, () => 0)
  reading.set(name, taken + 1)
  return () => {
    const left = (reading.get(name) ?? 1) - 1
    if (left > 0) reading.set(name, left)
    else reading.delete(name)
  }
}

function count({ meter, quotas }: AccountsState, projectId: string, keyId: string, { bytes, calls }: Amount): void {
  const counts = meter.of(projectId, keyId)
  counts.calls += calls
  counts.bytesStored += bytes
  quotas.accepted(projectId, bytes)
}

function appendFor(
  accounts: AccountsState,
  keyId: string,
  route: Pick<Route, 'right'>,
  amounts: ReadonlyMap<string, Amount>,
  low: LowLimits,
): (isAppended: boolean) => void {
  const { settings, quotas, quotaStatus = 403 } = accounts
  const mayRefuse = !isInference(route)
  const total = { bytes: 0, calls: 0 }
  const charges: Charge[] = []
  for (const [projectId, amount] of amounts) {
    total.bytes += amount.bytes
    total.calls += amount.calls
    const violated = mayRefuse && amount.bytes > 0 ? quotas.violated(projectId) : undefined
    if (violated !== undefined) throw quotaFault(violated, quotaStatus)
    charges.push(...appendCharges(accounts, 'project', projectId, settings.ofProject(projectId), amount))
  }
  for (const [bucket, limits] of settings.ofKey(keyId))
    charges.push(...appendCharges(accounts, 'key', bucket, limits, total))
  charge(accounts, charges, low, mayRefuse)
  return (isAppended) => {
    if (!isAppended) return giveBack(accounts, charges)
    for (const [projectId, amount] of amounts) count(accounts, projectId, keyId, amount)
  }
}

function countEnd(counts: Counts, route: Pick<Route, 'right'>, { isRefused, bytesIn, bytesOut, ms }: Outcome): void {
  counts.requests++
  counts.bytesIn += bytesIn
  if (isRefused) counts.refused++
  else if (isRead(route)) {
    counts.reads++
    counts.readMs += Math.round(ms)
    counts.readBytes += bytesOut
  }
}

/** @throws Fault 429 when the key has had its requests of a minute */
function beginAccount(accounts: AccountsState, holder: KeyHolder, route: Pick<Route, 'right'>): RequestAccount {
  const { settings, meter } = accounts
  const keyId = holder.keyId ?? ownWork
  const low: LowLimits = new Map()
  const opened = new Set<string>()
  const places = new Map<string, (() => void) | undefined>()
  if (!isFree(route)) {
    const limits = settings.ofKey(keyId)
    const charges = limits.flatMap(([bucket, { requests_per_minute: limit }]) =>
      chargesOf(accounts, 'key', bucket, limit, 1),
    )
    charge(accounts, charges, low)
  }
  let isEnded = false
  return {
    open(projectId) {
      if (opened.has(projectId)) return
      opened.add(projectId)
      const ofProject = settings.ofProject(projectId)
      if (ofProject === undefined || isFree(route)) return
      try {
        charge(accounts, chargesOf(accounts, 'project', projectId, ofProject.requests_per_minute, 1), low)
      } catch (error) {
        // A repeated request is refused again.
        opened.delete(projectId)
        meter.of(projectId, keyId).refused++
        throw error
      }
    },
    append: (amounts) => appendFor(accounts, keyId, route, amounts, low),
    masked(projectId, hits) {
      meter.of(projectId, keyId).masked += hits
    },
    read(projectId, pool) {
      const kind = pool === 'export' ? 'exports' : 'reads'
      const name = `${kind} ${projectId}`
      if (isEnded || pool === 'background' || places.has(name)) return
      places.set(name, takePlace(accounts, projectId, kind, settings.ofProject(projectId)?.[`concurrent_${kind}`]))
    },
    headers: () =>
      low.size === 0 ? undefined : rateHeaders([...low.values()].map((one) => standingOf(accounts, one))),
    end(outcome) {
      if (isEnded) return
      isEnded = true
      for (const leave of places.values()) leave?.()
      const [projectId] = opened
      if (projectId !== undefined) countEnd(meter.of(projectId, keyId), route, outcome)
    },
  }
}

/** Whether a limit or a bound refused the request. */
export const isRefusedByLimit = (fault: Pick<Fault, 'policy'> | undefined): boolean => fault?.policy !== undefined
