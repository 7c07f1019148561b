// The rows of a list over time, with how many of them failed; and of lists of traces how many traces that is.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { isOfTraces, type ListRequest, withErrors } from '../engine/calls-search.ts'
import { count, plural } from '../engine/format.ts'
import type { Row } from '../engine/rows.ts'
import { bucketFor } from '../engine/time-axis.ts'

/**
 * What a reader asked: what is known of it may stand while it is asked again, and is no answer to another question.
 * @property rows all rows of the list, where they are here
 */
type Asked = { question: string; request: ListRequest | undefined; rows: readonly Row[] | undefined }

const tracesOf = (rows: readonly Row[]): string[] => [...new Set(rows.map(({ traceId }) => traceId))]

/** Asks for known rows, so that texts are not gone through again. */
const narrowedTo = (rows: readonly Row[], { query: _, filter, ...rest }: ListRequest): ListRequest => ({
  ...rest,
  filter: { ...filter, call_ids: rows.map(({ id }) => id), trace_ids: tracesOf(rows) },
})

/** @param query its key begins with what is asked for, then the question */
const ofQuestion =
  (question: string) =>
  <Data>(before: Data | undefined, query: { queryKey: readonly unknown[] } | undefined): Data | undefined =>
    query?.queryKey[1] === question ? before : undefined

type Times = { startS: number | undefined; endS: number; zone: string }
type Series = readonly (number | null)[]

/** @property said of the whole list, undefined while nobody knows */
type OverTime = {
  buckets: readonly string[]
  rows: Series
  failed: Series
  said: string | undefined
  saidAt(place: number): string
}

const text = (noun: 'call' | 'trace', rows: number, failed: number): string =>
  `${plural(rows, noun)}, ${count(failed)} with errors`

const metrics = [
  { field: 'calls', as: 'sum' },
  { field: 'errors', as: 'sum' },
] as const

function useSeries({ question, request }: Asked, { startS, endS, zone }: Times, isOn: boolean) {
  const { data } = useQuery({
    queryKey: ['calls.histogram', question, request?.filter, request?.query, request?.project_id, startS, endS, zone],
    queryFn: ({ signal }) => {
      const { sort_by: _, ...rest } = request as ListRequest
      const times = {
        start: startS as number,
        end: endS,
        timezone: zone,
        bucket: bucketFor(endS - 1 - (startS as number)),
      }
      return json('calls.aggregate', { ...rest, ...times, metrics: [...metrics] }, { signal })
    },
    enabled: isOn && request !== undefined && startS !== undefined && startS < endS,
    placeholderData: ofQuestion(question),
  })
  return data
}

type TraceCounts = { traces: number; with_errors: number; failed?: readonly string[] }

/** A trace may have several roots, and is one. @property failed of the rows that are here the traces with errors */
function useTraceCounts({ question, request, rows }: Asked, looks: number, isOn: boolean) {
  const { data } = useQuery({
    queryKey: ['traces.counts', question, request, rows && tracesOf(rows), looks],
    queryFn: async ({ signal }): Promise<TraceCounts | undefined> => {
      const { project_id, filter, query } = request as ListRequest
      const [entity = '', project = ''] = project_id.split('/')
      const asked = rows
        ? { trace_ids: tracesOf(rows) }
        : { filter, ...(query && { query }), limit: 1, include_counts: true }
      const { traces, counts } = await json('traces.query', asked, { params: { entity, project }, signal })
      if (rows === undefined) return counts
      const failed = traces.filter(({ errors }) => errors > 0).map(({ trace_id }) => trace_id)
      return { traces: traces.length, with_errors: failed.length, failed }
    },
    enabled: isOn && request !== undefined,
    placeholderData: ofQuestion(question),
  })
  return data
}

/** The roots of failed traces, of those that are here or of all. */
function failingOf({ request, rows }: Asked, counts: TraceCounts | undefined): ListRequest | undefined {
  if (request === undefined || rows === undefined) return request && withErrors(request)
  const failed = rows.filter(({ traceId }) => counts?.failed?.includes(traceId))
  return failed.length === 0 ? undefined : narrowedTo(failed, request)
}

/** @param looks how often the list was asked for again */
export function useOverTime(given: Asked, times: Times, looks: number, isOn: boolean): OverTime {
  const { request } = given
  const ofTraces = isOfTraces(request)
  // Without a filter it is told by statistics, whatever rows there are.
  const asked = { ...given, rows: request?.query && given.rows?.length ? given.rows : undefined }
  const all = useSeries(
    { ...asked, request: asked.rows && request ? narrowedTo(asked.rows, request) : request },
    times,
    isOn,
  )
  const counts = useTraceCounts(asked, looks, isOn && ofTraces)
  // One after the other: each may go through the same texts.
  const failingOnes = ofTraces ? failingOf(asked, counts) : undefined
  const failing = useSeries({ ...asked, request: failingOnes }, times, isOn && all !== undefined)
  const group = all?.groups[0]
  const rows = group?.series['calls.sum'] ?? []
  const failed = (ofTraces ? failingOnes && failing?.groups[0]?.series['calls.sum'] : group?.series['errors.sum']) ?? []
  const total = (of: string) => group?.total[of] ?? 0
  return {
    buckets: all?.buckets ?? [],
    rows,
    failed,
    said: ofTraces
      ? counts && text('trace', counts.traces, counts.with_errors)
      : group && text('call', total('calls.sum'), total('errors.sum')),
    saidAt: (place) => text(ofTraces ? 'trace' : 'call', rows[place] ?? 0, failed[place] ?? 0),
  }
}
