// What requests leave in the audit log: what they delete, prices that they set, refusals summed per minute, reads when told to.
import { isIPv6 } from 'node:net'
import type { Audit } from '../audit/audit.ts'
import type { AuditEvent } from '../audit/chain.ts'
import { parseProjectId } from '../ids.ts'
import type { AuditedRequest } from '../process/running-handler.ts'
import { asFault, type Fault } from './errors.ts'
import type { KeyHolder } from './holder.ts'
import type { Route } from './route.ts'

/** What is recorded before the handler runs, by route. */
const actionOfRoute: Readonly<Record<string, string>> = {
  'calls.delete': 'calls.deleted',
  'evaluation_runs.delete': 'calls.deleted',
  'predictions.delete': 'calls.deleted',
  'scores.delete': 'calls.deleted',
  'objects.delete': 'objects.deleted',
  'ops.delete': 'objects.deleted',
  'datasets.delete': 'objects.deleted',
  'scorers.delete': 'objects.deleted',
  'evaluations.delete': 'objects.deleted',
  'models.delete': 'objects.deleted',
  'annotation_queues.delete': 'annotation_queue.deleted',
  'feedback.purge': 'feedback.purged',
  'costs.create': 'price.created',
  'costs.purge': 'price.purged',
}

type AuditedWork = {
  route: Pick<Route, 'name' | 'right'>
  holder: KeyHolder
  by: AuditedRequest
  params: Record<string, string>
  body: Buffer
}

export type RequestAudit = {
  /** Runs the work of a request; what is audited of it is durable before. */
  run<T>(asked: AuditedWork, work: () => Promise<T>): Promise<T>
  /** An answer that is a fault: refusals are counted. */
  onFault(error: unknown, by: AuditedRequest): void
  /** Records what was counted. */
  close(): Promise<void>
}

const everyMs = 60_000
/** Kinds of refusals that have an event of their own in a minute; the others share one. */
const maxKinds = 100
const others = 'others'
const shownIds = 10

/** A network: addresses of one sender change. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address === '' ? '' : `${address.split('.').slice(0, 3).join('.')}.0/24`
  const [head = '', tail] = address.split('::')
  const first = head.split(':').filter(Boolean)
  const last = (tail ?? '').split(':').filter(Boolean)
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0')
  return `${[...first, ...zeros, ...last].slice(0, 3).join(':')}::/48`
}

function valuesIn(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = body.length === 0 ? {} : JSON.parse(body.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The project that a request names, when its caller opens it: nobody writes into the events of others. */
function projectOf({ route, holder, params }: AuditedWork, values: Record<string, unknown>): string | undefined {
  const named = params.entity === undefined ? values.project_id : `${params.entity}/${params.project}`
  try {
    const project = parseProjectId(String(named))
    return holder.may(route.right, project) ? project : undefined
  } catch {
    return undefined
  }
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** Which things, by their ids alone. */
function namedIn({ route, params }: AuditedWork, values: Record<string, unknown>) {
  const id = params.object_id ?? params.id ?? values.object_id
  const lists = Object.entries(values).flatMap(([name, value]) => {
    const ids = /(?:_ids|digests)$/.test(name) ? textsIn(value) : []
    return ids.length === 0 ? [] : [[name, { count: ids.length, first: ids.slice(0, shownIds) }]]
  })
  return {
    ...(typeof id === 'string' && { target: id }),
    details: {
      route: route.name,
      ...(params.digest !== undefined && { digest: params.digest }),
      ...Object.fromEntries(lists),
    },
  }
}

/** @param reads whether routes that only read are recorded, too */
export function createRequestAudit(
  audit: Pick<Audit, 'record' | 'during'>,
  { reads, onLost }: { reads: boolean; onLost(error: Error): void },
): RequestAudit {
  const counted = new Map<string, { event: AuditEvent; count: number }>()

  function eventOf(asked: AuditedWork, action: string): AuditEvent | undefined {
    const values = valuesIn(asked.body)
    const scope = projectOf(asked, values)
    return scope === undefined ? undefined : { action, scope, by: asked.by, ...namedIn(asked, values) }
  }

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
    async run(asked, work) {
      const { route } = asked
      const action = actionOfRoute[route.name]
      if (action !== undefined) {
        const event = eventOf(asked, action)
        return event === undefined ? work() : audit.during([event], work)
      }
      const event = reads && route.right === 'read' ? eventOf(asked, 'data.read') : undefined
      if (event !== undefined) await audit.record(event)
      return work()
    },
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
