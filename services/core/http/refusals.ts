// Answers 401 and 403: counted at once, and in the audit log, summed per minute.
import { isIPv6 } from 'node:net'
import type { Audit } from '../audit/audit.ts'
import type { AuditEvent } from '../audit/chain.ts'
import type { AuditedRequest } from '../process/running-handler.ts'
import { asFault, type Fault } from './errors.ts'

export type Refusals = {
  /** An answer that is a fault: refusals are counted. */
  onFault(error: unknown, by: AuditedRequest): void
  /** Records what was counted. */
  close(): Promise<void>
}

const everyMs = 60_000
/** Kinds of refusals that have an event of their own in a minute; the others share one. */
const maxKinds = 100
const others = 'others'

/** A network: addresses of one sender change. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address === '' ? '' : `${address.split('.').slice(0, 3).join('.')}.0/24`
  const [head = '', tail] = address.split('::')
  const first = head.split(':').filter(Boolean)
  const last = (tail ?? '').split(':').filter(Boolean)
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0')
  return `${[...first, ...zeros, ...last].slice(0, 3).join(':')}::/48`
}

export function createRefusals(
  audit: Pick<Audit, 'record'>,
  { onRefused, onLost }: { onRefused(code: string): void; onLost(error: Error): void },
): Refusals {
  const counted = new Map<string, { event: AuditEvent; count: number }>()

  async function flush(): Promise<void> {
    const all = [...counted.values()]
    counted.clear()
    const recorded = all.map(({ event, count }) => audit.record({ ...event, details: { ...event.details, count } }))
    await Promise.all(recorded).catch(onLost)
  }
  const timer = setInterval(() => void flush(), everyMs)
  timer.unref()

  function count(fault: Fault, { userId, keyId = '', address }: AuditedRequest): void {
    const { status, body } = fault
    const code = typeof body.code === 'string' ? body.code : String(status)
    onRefused(code)
    const network = networkOf(address())
    const exact = `${code} ${keyId} ${network}`
    const isOther = !counted.has(exact) && counted.size >= maxKinds
    const kind = isOther ? others : exact
    const before = counted.get(kind)
    if (before !== undefined) {
      before.count++
      return
    }
    const by = {
      requestId: '',
      userId: isOther ? '' : userId,
      keyId: isOther ? '' : keyId,
      address: () => (isOther ? '' : network),
    }
    const details = isOther ? { code: others } : { status, code }
    counted.set(kind, { event: { action: 'auth.refused', scope: '*', outcome: 'refused', by, details }, count: 1 })
  }

  return {
    onFault(error, by) {
      const fault = asFault(error)
      if (fault?.status === 401 || fault?.status === 403) count(fault, by)
    },
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
