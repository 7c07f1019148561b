// The traces that were new of late, with all of their spans, so that a batch of theirs is counted without reading them back.
import type { CountedSpan, TraceName, TraceOfRows } from './spans.ts'

type RecentTrace = TraceName & {
  spans: CountedSpan[]
  /** Those from here on came with the last batch. */
  added: number
}

export type RecentTraces = {
  /**
   * Takes the spans of a batch that were not stored before.
   * @param isNew whether nothing was stored of the trace
   * @returns undefined where not all of the trace is known
   */
  add(of: TraceOfRows, isNew: boolean): RecentTrace | undefined
  /** Something of the trace was stored in another way, or removed. */
  drop(key: string): void
  clear(): void
}

/** Together; a span takes about 300 bytes. */
const maxSpansTogether = 100_000
/** Of one trace: each of its batches counts all of it again. */
const maxSpansOfTrace = 10_000

/** A call that was stored, removed and sent again stands among those that are known. */
function areApart(known: readonly CountedSpan[], added: readonly CountedSpan[]): boolean {
  const ids = new Set(added.map(({ id }) => id))
  return !known.some(({ id }) => ids.has(id))
}

export function createRecentTraces(maxSpans = maxSpansTogether): RecentTraces {
  /** The one that was used last stands last. */
  const traces = new Map<string, RecentTrace>()
  let spansTogether = 0

  const drop = (key: string): void => {
    spansTogether -= traces.get(key)?.spans.length ?? 0
    traces.delete(key)
  }

  return {
    drop,
    clear() {
      traces.clear()
      spansTogether = 0
    },
    add({ key, project, trace, spans, isPartial }, isNew) {
      const known = traces.get(key)
      drop(key)
      const size = spans.length + (known?.spans.length ?? 0)
      if (isPartial || isNew === (known !== undefined) || size > Math.min(maxSpansOfTrace, maxSpans)) return undefined
      if (known !== undefined && !areApart(known.spans, spans)) return undefined
      const recent = known ?? { project, trace, spans: [], added: 0 }
      recent.added = recent.spans.length
      recent.spans.push(...spans)
      traces.set(key, recent)
      spansTogether += recent.spans.length
      for (const oldest of traces.keys()) {
        if (spansTogether <= maxSpans) break
        drop(oldest)
      }
      return recent
    },
  }
}
