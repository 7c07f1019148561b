// Requests of the pages of threads: threads by page, and the turns of one in their order.
import { baseUrl, json, lines } from '../api/client.ts'
import { boundsOf, type ListRequest } from '../engine/calls-search.ts'
import type { Message } from '../engine/message-parts.ts'
import type { Row } from '../engine/rows.ts'
import type { ThreadSort } from '../engine/threads-search.ts'
import type { ListQuestion } from '../parts/use-list.ts'
import { ask } from '../worker/client.ts'

export type ThreadRow = {
  thread_id: string
  turn_count: number
  start_time: string
  last_updated: string
  first_turn_id: string
  last_turn_id: string
  p50_turn_duration_ms: number | null
  p99_turn_duration_ms: number | null
}

const pageThreads = 100
export const pageTurns = 50

const at = (seconds: number | undefined): string | undefined =>
  seconds === undefined ? undefined : new Date(seconds * 1000).toISOString()

/** A range that ends now is that of the moment in which it is asked for. */
function filterOf(range: string | undefined) {
  const { from, to } = boundsOf(range ?? '', Date.now() / 1000) ?? {}
  return { after_datetime: at(from), before_datetime: at(to) }
}

export const threadsQuestion = (
  project_id: string,
  sort: ThreadSort,
  range: string | undefined,
  page: number,
): ListQuestion<ThreadRow> => ({
  key: ['threads', project_id, sort, range],
  pages: { by: 'page', size: pageThreads, page },
  async read({ limit, offset, signal }) {
    const asked = { project_id, sort_by: [{ field: sort, direction: 'desc' as const }], filter: filterOf(range) }
    return lines('threads.stream_query', { ...asked, limit, offset }, { signal })
  },
})

const isTurn = { $eq: [{ $getField: 'turn_id' }, { $getField: 'id' }] }

/** First characters of inputs and outputs of calls. */
export const previewsQuery = (projectId: string, ids: readonly string[]) => ({
  queryKey: ['previews', projectId, ids],
  queryFn: ({ signal }: { signal: AbortSignal }) => ask('previews', [baseUrl, projectId, [...ids]], { signal }),
  enabled: ids.length > 0,
  staleTime: 60_000,
})

/** Messages that are looked at for words of the user: the first ones, or the last ones. */
const placesOf = { first: [0, 1, 2], last: [-1, -2, -3] } as const
type Which = keyof typeof placesOf
/** Paths of messages of chat completions, and as OpenTelemetry records them. */
const messagesOf = (which: Which): string[] =>
  ['inputs.messages', 'inputs.gen_ai\\.input\\.messages'].flatMap((list) =>
    placesOf[which].map((place) => `${list}.${place}`),
  )
/** Paths of a message's text. */
const texts = ['content', 'content.0.text', 'parts.0.content']
/** Paths of a whole input that is one text. */
const inputTexts = ['input\\.value', 'input', 'prompt', 'question', 'query', 'message'].map((name) => `inputs.${name}`)
/** Possible paths of a user's words. */
const wordsAt = (messages: readonly string[]): string[] => [
  ...messages.flatMap((path) => [`${path}.role`, ...texts.map((text) => `${path}.${text}`)]),
  ...inputTexts,
]

/**
 * The words of the user in each turn: of the first or the last message, else of inputs that are one text; '' where there
 * are none. Cut by the server, however large the turn is.
 */
const wordsQuery = (project_id: string, call_ids: readonly string[], which: Which) => ({
  queryKey: ['words', project_id, call_ids, which],
  async queryFn({ signal }: { signal: AbortSignal }): Promise<Map<string, string>> {
    const messages = messagesOf(which)
    const paths = [...wordsAt(messages), 'inputs']
    const { cells } = await json('calls.cells', { project_id, call_ids: [...call_ids], paths }, { signal })
    const cellOf = (id: string, path: string) => cells[id]?.[paths.indexOf(path)]
    const shown = (id: string, path: string): string => {
      const cell = cellOf(id, path)
      return cell?.type === 'string' ? cell.text : ''
    }
    const words = (id: string): string => {
      const path = messages.find((one) => ['user', 'human'].includes(shown(id, `${one}.role`)))
      const said = path === undefined ? [] : texts.map((text) => shown(id, `${path}.${text}`))
      said.push(...inputTexts.map((text) => shown(id, text)))
      // Names of inputs tell something of a whole thread; turns of one have the same.
      const rest = which === 'first' ? cellOf(id, 'inputs')?.text : shown(id, 'inputs')
      return said.find((text) => text.trim() !== '') ?? rest ?? ''
    }
    return new Map(call_ids.map((id) => [id, words(id)]))
  },
  enabled: call_ids.length > 0,
  staleTime: 60_000,
})

/** The beginning of each thread, by its first turn. */
export const beginningsQuery = (projectId: string, ids: readonly string[]) => wordsQuery(projectId, ids, 'first')

/** The words that were asked in each turn, whose inputs may begin with all that was said before. */
export const askedQuery = (projectId: string, ids: readonly string[]) => wordsQuery(projectId, ids, 'last')

export type Turns = {
  turns: Row[]
  /** The last turn of the page before. */
  before: Row | undefined
  hasMore: boolean
  /** The latest that was read, also where it is inside another turn. */
  newest: Row | undefined
}

/** Every turn of a thread, the oldest first. */
export const threadRequest = (project_id: string, threadId: string): ListRequest => ({
  project_id,
  filter: { thread_ids: [threadId] },
  query: { $expr: isTurn },
  sort_by: [{ field: 'started_at', direction: 'asc' }],
})

/** A page of the turns of a thread, the oldest first. Turns inside another turn of the thread are part of that one. */
export const turnsQuery = (project_id: string, threadId: string, page: number) => ({
  queryKey: ['thread', project_id, threadId, page],
  async queryFn({ signal }: { signal: AbortSignal }): Promise<Turns> {
    const { sort_by, ...asked } = threadRequest(project_id, threadId)
    // One more before, to know what is new in the first; one more after tells whether there is another page.
    const lead = page > 0 ? 1 : 0
    const { rows } = await ask(
      'calls',
      [baseUrl, { ...asked, sort_by, limit: pageTurns + 1 + lead, offset: page * pageTurns - lead }],
      { signal },
    )
    const turnIds = new Set(rows.map(({ id }) => id))
    const elsewhere = rows.flatMap(({ parentId }) => (parentId === null || turnIds.has(parentId) ? [] : [parentId]))
    if (elsewhere.length > 0) {
      const filter = { ...asked.filter, call_ids: [...new Set(elsewhere)] }
      for (const id of await ask('ids', [baseUrl, { ...asked, filter }], { signal })) turnIds.add(id)
    }
    const turns = rows
      .slice(lead, lead + pageTurns)
      .filter(({ parentId }) => parentId === null || !turnIds.has(parentId))
    const hasMore = rows.length > lead + pageTurns
    return { turns, before: lead > 0 ? rows[0] : undefined, hasMore, newest: rows.at(-1) }
  },
})

const textOf = (message: Message): string => JSON.stringify([message.role, message.parts])

/** Messages of a turn that the turn before did not have at the same place already. */
export function newMessages(
  before: readonly Message[],
  now: readonly Message[],
): { earlier: number; shown: Message[] } {
  let same = 0
  while (same < before.length && same < now.length && textOf(before[same] as Message) === textOf(now[same] as Message))
    same++
  return { earlier: same, shown: now.slice(same) }
}
