// Wire shapes of POST /trace/tree: the spans of one trace as columns, without their payloads.
import { z } from 'zod'
import { text } from './coerce.ts'

export const traceTreeRequest = z.object({ project_id: text(), trace_id: text() })

const texts = z.array(z.string())
/** One entry per span; each an index into the list of the same noun, -1 = none. */
const indexes = z.array(z.int())
const counts = z.array(z.number().nullable())

/** Lists of distinct texts, then columns with one entry per span, by start time and id. */
export const traceTreeResponse = z.object({
  trace_id: z.string(),
  started_at: z.iso.datetime().nullable().describe('of the first span; start_us counts from here'),
  is_cut: z.boolean().describe('the trace has more spans than these'),
  names: texts.describe('what spans are shown as: their display name, else the plain name of their op'),
  ops: texts,
  kinds: texts.describe('what attributes say of the kind of a span, as they spell it in lower case'),
  models: texts,
  users: texts,
  threads: texts,
  turns: texts,
  errors: texts.describe('first lines of exceptions'),
  id: texts,
  parent: indexes.describe('place of the parent among the spans, -1 = a root or not in this answer'),
  name: indexes,
  op: indexes,
  kind: indexes,
  model: indexes,
  user: indexes,
  thread: indexes,
  turn: indexes,
  error: indexes,
  start_us: z.array(z.int()),
  duration_us: z.array(z.int()).describe('-1 while it runs'),
  status: z.array(z.int()).describe('0 success, 1 error, 2 running, 3 error of a descendant'),
  tokens_in: counts,
  tokens_out: counts,
  cost: counts,
  counted: z
    .object({ span: z.array(z.int()), tokens_in: counts, tokens_out: counts, cost: counts })
    .describe(
      'places of spans that others with usage are below, and what they count for themselves: every other span counts what it reports, and a trace is the sum of them',
    ),
  feedback: z.array(z.int()),
  size: z.array(z.int()).describe('stored bytes'),
  orphans: z.array(z.int()).describe('places of spans whose parent is not in this answer'),
})
