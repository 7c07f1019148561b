// New calls of a list while it is live: asked for every two seconds, where the page is seen; without live nothing is asked.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { json } from '../api/client.ts'
import { type ListRequest, withCondition } from '../engine/calls-search.ts'
import type { Row } from '../engine/rows.ts'

const everyMs = 2_000
/** When answers take longer than `slowMs`. */
const slowlyMs = 10_000
const slowMs = 500
/** More new calls are not counted. */
export const maxNew = 100

type Live = {
  request: ListRequest | undefined
  isOn: boolean
  /** The first row of the list; undefined while there is none. */
  newest: Row | undefined
  /** Whether rows in view may change without anybody asking: the reader is at the top and has marked none. */
  isFree: boolean
  /** Whether the rows may be others, or say something else, though none began since. */
  changes: boolean
  onNew(): void
}

function newerThan({ sort_by: _, ...list }: ListRequest, us: number) {
  const isNewer = { $gt: [{ $getField: 'started_at' }, { $literal: us / 1_000_000 }] }
  return { ...withCondition(list, isNewer), limit: maxNew + 1 }
}

/** @returns how many new calls wait to be shown */
export function useLive({ request, isOn, newest, isFree, changes, onNew }: Live): number {
  const tookMs = useRef(0)
  const newestUs = newest?.startedUs
  const { data = 0, dataUpdatedAt } = useQuery({
    queryKey: ['calls.new', request, newestUs],
    async queryFn({ signal }) {
      const startedMs = performance.now()
      const asked = newerThan(request as ListRequest, newestUs as number)
      const { count } = await json('calls.query_stats', asked, { signal, fresh: 'any' })
      tookMs.current = performance.now() - startedMs
      return count
    },
    enabled: isOn && request !== undefined && newestUs !== undefined,
    refetchInterval: () => (tookMs.current > slowMs ? slowlyMs : everyMs),
    staleTime: 0,
    gcTime: 0,
  })
  const show = useRef(onNew)
  show.current = onNew
  useEffect(() => {
    if (isOn && isFree && dataUpdatedAt > 0 && (data > 0 || changes)) show.current()
  }, [isOn, isFree, changes, data, dataUpdatedAt])
  return isOn ? data : 0
}
