// The rows of a list over time, with how many of them failed; and of lists of traces how many traces that is.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { isOfTraces, type ListRequest, withErrors } from '../engine/calls-search.ts'
import { count, plural } from '../engine/format.ts'
import { bucketFor } from '../engine/time-axis.ts'

/** What a reader asked: what is known of it may stand while it is asked again, and is no answer to another question. */
type Asked = { question: string; request: ListRequest | undefined }

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

/** A trace may have several roots, and is one. */
function useTraceCounts({ question, request }: Asked, looks: number, isOn: boolean) {
  const { data } = useQuery({
    queryKey: ['traces.counts', question, request, looks],
    queryFn: async ({ signal }) => {
      const { project_id, filter, query } = request as ListRequest
      const [entity = '', project = ''] = project_id.split('/')
      const asked = { filter, ...(query && { query }), limit: 1, include_counts: true }
      return (await json('traces.query', asked, { params: { entity, project }, signal })).counts
    },
    enabled: isOn && request !== undefined,
    placeholderData: ofQuestion(question),
  })
  return data
}

/** @param looks how often the list was asked for again */
export function useOverTime(asked: Asked, times: Times, looks: number, isOn: boolean): OverTime {
  const { request } = asked
  const ofTraces = isOfTraces(request)
  const all = useSeries(asked, times, isOn)
  const counts = useTraceCounts(asked, looks, isOn && ofTraces)
  // One after the other: each may go through the same texts.
  const failingOnes = ofTraces && request ? withErrors(request) : undefined
  const failing = useSeries({ ...asked, request: failingOnes }, times, isOn && all !== undefined)
  const group = all?.groups[0]
  const rows = group?.series['calls.sum'] ?? []
  const failed = (ofTraces ? failing?.groups[0]?.series['calls.sum'] : group?.series['errors.sum']) ?? []
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
