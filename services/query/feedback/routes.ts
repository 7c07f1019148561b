// Reading and purging feedback: POST /feedback/query and POST /feedback/purge, which finds its ids by reading.

import {
  feedbackPurgeRequest,
  feedbackPurgeResponse,
  feedbackQueryRequest,
  feedbackQueryResponse,
} from '../../../schemas/feedback.ts'
import type { SortTerm } from '../../../schemas/query.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { audited, idsOf } from '../../core/audit/audited.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { type Freshness, throwIfStale } from '../../core/log/freshness.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import type { Store } from '../../core/store/store.ts'
import { purgedRecord } from '../../events/feedback.ts'
import { compactRows } from '../compact-rows.ts'
import { listReply } from '../list-reply.ts'
import { type KeyedList, listBounds, listRows } from '../list-rows.ts'
import { purgedIds } from '../purge-ids.ts'
import { erasureHeader, type RequestErasure } from '../request-erasure.ts'
import { feedbackCondition } from './condition.ts'
import type { ThrowIfHeld } from './held.ts'
import { throwIfOfOthers } from './owners.ts'
import { feedbackOrder, feedbackRowText, shownMembers } from './select.ts'
import {
  feedbackCountQuery,
  feedbackItemsQuery,
  feedbackKeys,
  feedbackKeysQuery,
  feedbackPageQuery,
  presentQuery,
} from './statements.ts'

export type FeedbackReadDeps = {
  store: Pick<Store, 'bytes' | 'rows'>
  log: Pick<Log, 'append'>
  clock: Clock
  freshness: Freshness
  audit: Pick<Audit, 'begin'>
  config: { wirePrefix: string }
  throwIfHeld: ThrowIfHeld
}

const isCount = (field: string): boolean => field.toLowerCase() === 'count(*)'

/** Names of counts, when they are all that was asked for. @throws Fault 400 when counts stand beside fields */
function countsOf(fields: readonly string[] | undefined): string[] | null {
  const counts = (fields ?? []).filter(isCount)
  if (counts.length === 0) return null
  if (counts.length < (fields ?? []).length) throw fault(400, 'count(*) cannot be asked for beside other fields')
  return [...new Set(counts)]
}

/** @param requestErasure has the texts of what is purged removed, too */
export function createFeedbackReadRoutes(deps: FeedbackReadDeps, requestErasure: RequestErasure): Route[] {
  const { store, log, clock, freshness, config, audit, throwIfHeld } = deps
  return [
    route({
      name: 'feedback.query',
      method: 'POST',
      path: '/feedback/query',
      summary: 'Feedback that matches a query, sorted, with the number of all matches',
      body: { type: 'json', schema: feedbackQueryRequest, check: 'schema' },
      response: feedbackQueryResponse,
      tables: ['feedback', 'feedback_by_ref', 'calls_deleted'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const bounds = listBounds(input)
        const { limit, offset } = bounds
        const counts = countsOf(input.fields)
        const members = counts ? [] : shownMembers(input.fields, config.wirePrefix)
        const where = feedbackCondition(input.query, projectId)
        const order = feedbackOrder(input.sort_by as SortTerm[] | null | undefined)
        // Feedback of deleted calls is not shown.
        const headers = await freshness.wait(context, ['feedback', 'calls'])
        const count = async () =>
          (await store.rows<{ count: number }>(feedbackCountQuery(projectId, where), { signal }))[0]?.count ?? 0
        if (counts) {
          const total = await count()
          const isShown = offset === 0 && limit !== 0
          const result = isShown ? [Object.fromEntries(counts.map((name) => [name, total]))] : []
          return { json: { result, total_count: total }, headers }
        }
        const list: KeyedList<unknown[]> = {
          whole: feedbackPageQuery(projectId, where, { ...bounds, members, order }),
          keys: (slice) => feedbackKeysQuery(projectId, where, { ...slice, order }),
          of: (ids) => feedbackItemsQuery(projectId, ids, members),
          rows: compactRows<unknown[]>,
          keyRows: feedbackKeys.rows,
          keyOf: (row) => row.at(-1) as string,
        }
        let shown = 0
        async function* texts(): AsyncGenerator<string> {
          if (limit === 0) return
          for await (const rows of listRows({ store, options: { signal } }, list, bounds)) {
            shown += rows.length
            yield rows.map((values) => feedbackRowText(members, values)).join(',')
          }
        }
        const counting = limit === null && offset === 0 ? null : count()
        counting?.catch(() => undefined)
        return listReply('result', texts(), headers, async () => `,"total_count":${(await counting) ?? shown}`)
      },
    }),
    route({
      name: 'feedback.purge',
      method: 'POST',
      path: '/feedback/purge',
      summary: 'Permanently deletes feedback',
      body: { type: 'json', schema: feedbackPurgeRequest, check: 'schema' },
      response: feedbackPurgeResponse,
      topics: ['feedback', 'erasures'],
      tables: ['feedback', 'calls', 'call_keys', 'call_patches'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const asked = purgedIds(input.query.$expr)
        if (asked.length === 0) return { json: {} }
        const headers = await freshness.wait(context, ['feedback'])
        const present = await store.rows<{ id: string; clock: string; user_id: string }>(
          presentQuery(projectId, asked),
          { signal },
        )
        // Passed over quietly is only what certainly is not there.
        if (present.length < asked.length) throwIfStale(headers)
        if (present.length === 0) return { json: {}, headers }
        throwIfOfOthers(context.caller, projectId, present)
        const ids = present.map(({ id }) => id)
        await throwIfHeld(context, projectId, ids)
        const event = { action: 'feedback.purged', scope: projectId, details: { feedback_ids: idsOf(ids) } }
        const position = await audited(audit, [event], () =>
          log.append('feedback', [purgedRecord(projectId, ids, clock)]),
        )
        const { id } = await requestErasure(context, projectId, {
          calls: 0,
          feedback: ids.length,
          firstVer: present.map((item) => BigInt(item.clock)).reduce((a, b) => (a < b ? a : b)),
          selector: { feedback_ids: ids },
        })
        const written = { [positionHeader]: formatPositions([position]), [erasureHeader]: id }
        return { json: {}, headers: { ...headers, ...written } }
      },
    }),
  ]
}
