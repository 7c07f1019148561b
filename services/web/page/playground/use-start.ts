// The start of the playground: a recorded call, a version of a prompt, or the last draft.
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { baseUrl } from '../api/client.ts'
import { openQuery } from '../parts/trace-query.ts'
import { ask } from '../worker/client.ts'
import {
  asTheyStand,
  columnOf,
  type Draft,
  type DraftMessage,
  emptyColumn,
  emptyDraft,
  formatOfRequest,
  messagesOf,
  promptOf,
  readDraft,
  readPrompt,
} from './draft.ts'
import { type Kept, keptMessages, type PromptTexts, promptTexts } from './prompt-value.ts'
import { withRecordedFiles } from './recorded-files.ts'

/** The version of a prompt that is edited. */
export type EditedPrompt = {
  objectId: string
  digest: string
  versionIndex: number | undefined
  isLatest: boolean
  texts: PromptTexts
  /** Its value as JSON, and its messages by what the playground has of them. */
  value: string
  kept: Kept
  messages: readonly DraftMessage[]
}

/** The draft, and the number of files of the call (`left`) without copies in it. */
export type Started = { draft: Draft; left: number; edited?: EditedPrompt }

/** Inputs beyond this are no request to a model. */
const maxInputs = 2 ** 21

/** Parameters of a recorded request; what is missing stays empty. */
async function parametersOf(node: { doc: number; start: number; end: number } | undefined) {
  if (node === undefined || node.end - node.start > maxInputs) return {}
  const inputs = JSON.parse(await ask('copy', [node.doc, node.start, node.end])) as Record<string, unknown> | null
  return inputs !== null && typeof inputs === 'object' ? inputs : {}
}

/** A recorded call as a draft; null when it holds no conversation. */
export function useRecorded(projectId: string, id: string | undefined) {
  const client = useQueryClient()
  return useQuery({
    queryKey: ['playground call', projectId, id],
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn({ signal }): Promise<Started | null> {
      const opened = await client.fetchQuery(openQuery(projectId, id as string))
      if (!opened?.conversation) return null
      const inputs = await parametersOf(opened.sections.inputs)
      const { model, tools } = inputs
      const named = typeof model === 'string' ? model : (opened.row.model ?? '')
      const said = messagesOf(opened.conversation)
      const { messages, left } = await withRecordedFiles(projectId, opened.conversation, said, signal)
      const draft = {
        ...emptyDraft(),
        ...formatOfRequest(inputs),
        messages,
        variables: asTheyStand(messages),
        columns: [columnOf(named.split(', ')[0] ?? '', inputs)],
        ...(Array.isArray(tools) && { tools: JSON.stringify(tools, null, 2) }),
      }
      return { draft, left }
    },
  })
}

const promptKey = (projectId: string, prompt: string | undefined) => ['playground prompt', projectId, prompt]

async function readVersion(projectId: string, prompt: string, signal: AbortSignal): Promise<Started | null> {
  const asked = promptOf(prompt)
  if (asked === undefined) return null
  const { head, value } = await ask('objectTexts', [baseUrl, projectId, asked.objectId, asked.digest], { signal })
  const parsed: unknown = JSON.parse(value)
  const read = readPrompt(parsed)
  if (read === null) return null
  const drafts: DraftMessage[][] = []
  let left = 0
  for (const { said, drafts: made } of read) {
    const found = await withRecordedFiles(projectId, said, made, signal)
    drafts.push(found.messages)
    left += found.left
  }
  const messages = drafts.flat()
  const texts = promptTexts(parsed)
  const digest = typeof head.digest === 'string' ? head.digest : asked.digest
  const edited: EditedPrompt = {
    objectId: asked.objectId,
    digest,
    versionIndex: typeof head.version_index === 'number' ? head.version_index : undefined,
    isLatest: head.is_latest === 1,
    texts,
    value,
    kept: keptMessages(value, drafts),
    messages,
  }
  const columns = [emptyColumn(texts.model)]
  return { draft: { ...emptyDraft(), messages, columns, prompt: `${asked.objectId}/${digest}` }, left, edited }
}

/** A version of a prompt, `<object id>/<digest>`, as a draft; null when it holds no messages. */
export const usePrompt = (projectId: string, prompt: string | undefined) =>
  useQuery({
    queryKey: promptKey(projectId, prompt),
    enabled: prompt !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: 1,
    queryFn: ({ signal }) => readVersion(projectId, prompt as string, signal),
  })

/** Reads a version that was just saved, so that the page stays as it is when its address names it. */
export const loadPrompt = (client: QueryClient, projectId: string, prompt: string): Promise<Started | null> =>
  client.fetchQuery({
    queryKey: promptKey(projectId, prompt),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => readVersion(projectId, prompt, signal),
  })

/** The last draft, for one model. */
export const draftWith = (projectId: string, model: string): Draft => ({
  ...readDraft(projectId),
  columns: [emptyColumn(model)],
})
