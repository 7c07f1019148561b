// The spans below two calls beside each other, in the order of their trees or the greatest difference first.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { count, duration, plural } from '../engine/format.ts'
import { changeOfPair, type SpanPair, type SpanSide } from '../engine/trace-differences.ts'
import { Button } from '../parts/button.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { useProject } from '../parts/project.ts'
import { ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'
import type { SpanOf } from '../worker/differences.ts'

/** Changes of a pair that both traces have. */
const changesOf = ({ a, b }: SpanPair): string[] => {
  if (a === undefined || b === undefined) return []
  const signed = (change: number, shown: (value: number) => string) =>
    change === 0 ? [] : [`${change > 0 ? '+' : '−'}${shown(Math.abs(change))}`]
  const time = a.ms === null || b.ms === null ? [] : signed(b.ms - a.ms, duration)
  const tokens = a.tokens === null || b.tokens === null ? [] : signed(b.tokens - a.tokens, count)
  return [...time, ...tokens.map((text) => `${text} tokens`)]
}

function Side({ side, changes }: { side: SpanSide | undefined; changes: readonly string[] }) {
  const { entity, project } = useProject()
  if (side === undefined) return <span className="dim">–</span>
  const facts = [
    side.ms === null ? 'running' : duration(side.ms),
    ...(side.tokens === null ? [] : [`${plural(side.tokens, 'token')}`]),
  ]
  return (
    <>
      <Link to="/p/$entity/$project/calls/$id" params={{ entity, project, id: side.id }} className="num">
        {facts.join(' · ')}
      </Link>
      {side.status === 'error' && <span className="s-error"> error</span>}
      {changes.length > 0 && <span className="second num"> {changes.join(', ')}</span>}
    </>
  )
}

const kindOfPair = ({ a, b }: SpanPair): { kind: string; words: string } => {
  if (a === undefined) return { kind: 'added', words: 'only in B' }
  return b === undefined ? { kind: 'removed', words: 'only in A' } : { kind: 'both', words: '' }
}

export function SpanDifferences({ spans }: { spans: readonly [SpanOf, SpanOf] }) {
  const { projectId } = useProject()
  const [isLargest, setLargest] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: ['trace-differences', projectId, ...spans.map(({ id }) => id)],
    queryFn: ({ signal }) => ask('traceDifferences', [baseUrl, projectId, spans], { signal }),
    staleTime: 60_000,
  })
  const shown = useMemo(() => {
    const pairs = data?.pairs ?? []
    return isLargest
      ? pairs.toSorted((one, other) => Math.abs(changeOfPair(other)) - Math.abs(changeOfPair(one)))
      : pairs
  }, [data, isLargest])
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  // A call without any below it is what the other tables compare.
  if (data === undefined || data.pairs.length < 2) return null
  const alone = data.pairs.filter(({ a, b }) => a === undefined || b === undefined).length
  return (
    <section aria-label="Spans">
      <h2>Spans</h2>
      <p className="second" role="status">
        {count(data.pairs.length - alone)} in both, {count(alone)} in only one
        {data.isCut ? '; there are more, or they are too different to match' : ''}
      </p>
      <Button aria-pressed={isLargest} onClick={() => setLargest(!isLargest)}>
        Largest first
      </Button>
      <ShortTable
        label="Differences of spans"
        hasFocus
        hidesHeads
        columns={[
          {
            head: 'Span',
            isRowHead: true,
            cell: (pair) => (
              <div style={isLargest ? {} : { paddingLeft: `${Math.min(20, pair.depth) * 1.2}rem` }}>
                <T text={pair.name} max={120} />
                {kindOfPair(pair).words !== '' && <small className="second">{kindOfPair(pair).words}</small>}
              </div>
            ),
          },
          { head: 'A', cell: ({ a }) => <Side side={a} changes={[]} /> },
          { head: 'B', cell: (pair) => <Side side={pair.b} changes={changesOf(pair)} /> },
        ]}
        items={shown}
        idOf={({ a, b }) => `${a?.id} ${b?.id}`}
        rowClass={(pair) => kindOfPair(pair).kind}
      />
    </section>
  )
}
