// What sets some calls of a list apart from its other calls: those of a range of time, or those that are marked.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import type { CallsSearch } from '../engine/calls-search.ts'
import { fieldOfPath } from '../engine/completion.ts'
import { narrowedLine } from '../engine/filter-acts.ts'
import { pathOf } from '../engine/filter-fields.ts'
import { count, plural } from '../engine/format.ts'
import { literalText } from '../engine/query-text.ts'
import { opNameOf } from '../engine/rows.ts'
import { type ListSide, type ListSides, sidesOf } from '../engine/sides-of-list.ts'
import { type Counted, type ValueCounts, type ValueDifference, valueDifferences } from '../engine/value-differences.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { RefOrText } from '../parts/ref-link.tsx'
import { Second } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'

const maxShown = 20
/** Fields that are counted: those that every call has, and the commonest of payloads. */
const maxFields = 50
const plain = ['op', 'status', 'user'] as const
const valuesOfField = 100

/** Versions of one op are one value. */
function opsOf(values: readonly Counted[]): Counted[] {
  const found = new Map<string, number>()
  for (const { value, calls } of values)
    found.set(opNameOf(String(value)), (found.get(opNameOf(String(value))) ?? 0) + calls)
  return [...found].map(([value, calls]) => ({ value, calls }))
}

async function countsOf(request: ListSide, names: readonly string[], signal: AbortSignal): Promise<ValueCounts> {
  const paths = names.map((name) => pathOf(name))
  const { fields, sampled_calls } = await json(
    'calls.values',
    { ...request, fields: paths, limit: valuesOfField },
    { signal },
  )
  return {
    sampled: sampled_calls,
    fields: new Map(
      names.flatMap((name, place) => {
        const found = fields[paths[place] as string]
        if (found === undefined) return []
        const values = name === 'op' ? opsOf(found.values) : found.values
        return [[name, { values, isComplete: found.is_complete }] as const]
      }),
    ),
  }
}

function useDifferences(projectId: string, sides: ListSides) {
  return useQuery({
    queryKey: ['calls.differ', projectId, sides],
    queryFn: async ({ signal }) => {
      const { fields } = await json('calls.fields', { project_id: projectId }, { signal })
      const known = fields.flatMap(({ path }) => {
        const name = fieldOfPath(path)
        return name === null || name.startsWith('feedback.') || name.startsWith('scorer.') ? [] : [name]
      })
      const names = [...plain, ...new Set(known)].slice(0, maxFields)
      const [here, others] = await Promise.all([
        countsOf(sides.here, names, signal),
        countsOf(sides.elsewhere, names, signal),
      ])
      const wider = others.sampled === 0 ? sides.withoutFilter : undefined
      const elsewhere = wider === undefined ? others : await countsOf(wider, names, signal)
      return {
        here,
        elsewhere,
        isWithoutFilter: wider !== undefined,
        found: valueDifferences(here, elsewhere, maxShown),
      }
    },
    staleTime: 60_000,
  })
}

type Props = {
  projectId: string
  search: CallsSearch
  /** Marked calls; without, those of the range of time are set apart. */
  ids?: readonly string[]
  nowS: number
  onFilter(q: string): void
  onClose(): void
}

export function WhatDiffers({ projectId, search, ids, nowS, onFilter, onClose }: Props) {
  const zone = useZone(search.tz)
  const { data, error, refetch } = useDifferences(projectId, sidesOf(projectId, search, ids, nowS, zone))
  const what = ids === undefined ? 'in this time range' : 'that are marked'
  return (
    <Dialog title={`Compare with the rest: calls ${what}`} onClose={onClose} className="wide">
      {error && <FaultBox error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        <p className="second" role="status">
          {!error && 'Counting values on both sides…'}
        </p>
      ) : (
        <>
          <p className="second" role="status">
            {data.isWithoutFilter &&
              'All calls that match the filter are marked: the rest is what the list has without it. '}
            {data.elsewhere.sampled === 0 || data.here.sampled === 0
              ? 'There are no other calls to compare with.'
              : data.found.length === 0
                ? 'No value is more or less common here than in the rest.'
                : `Shares of the latest ${plural(data.here.sampled, 'call')} ${what}, and of the latest ${count(data.elsewhere.sampled)} others.`}
          </p>
          <ul className="values differ">
            {data.found.map((one) => (
              <Shown
                key={`${one.field} ${JSON.stringify(one.value)}`}
                of={one}
                onPick={(term) => onFilter(narrowedLine(search.q ?? '', term))}
              />
            ))}
          </ul>
        </>
      )}
    </Dialog>
  )
}

const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`

function Shown({ of, onPick }: { of: ValueDifference; onPick(term: string): void }) {
  const { field, value, here, elsewhere, isAtMost } = of
  const term = `${field}:${literalText(value)}`
  const name = `${field.slice(0, 60)} ${String(value).slice(0, 60)}`
  const bar = (side: 'here' | 'elsewhere', share: number) => (
    <span className={`share ${side}`}>
      <i style={{ width: `${Math.max(1, share * 100)}%` }} />
      <span className="num">
        {isAtMost === side && '≤ '}
        {percent(share)} {side}
      </span>
    </span>
  )
  return (
    <li>
      <Second text={field} max={80} />
      <span className="value">
        <RefOrText text={String(value)} max={120} />
        {bar('here', here)}
        {bar('elsewhere', elsewhere)}
      </span>
      <span className="acts">
        <Button aria-label={`Only ${name}`} onClick={() => onPick(term)}>
          Only
        </Button>
        <Button aria-label={`Without ${name}`} onClick={() => onPick(`-${term}`)}>
          Without
        </Button>
      </span>
    </li>
  )
}
