// Messages of a prompt as its page shows them, and those of two versions side by side.
import { pairsOf } from '../engine/differences.ts'
import { variableNames } from '../engine/variables.ts'
import { readPrompt } from '../playground/draft.ts'

export type ShownMessage = {
  role: string
  text: string
  /** Contents beside its text. */
  notes: string[]
}

/** Null for a value that holds no messages. */
export function shownMessages(value: unknown): ShownMessage[] | null {
  const read = readPrompt(value)
  if (read === null) return null
  return read.flatMap(({ said, drafts }) =>
    drafts.map(({ role, text }, n): ShownMessage => {
      const parts = said[n]?.parts ?? []
      return {
        role,
        text,
        notes: parts.flatMap((part) =>
          part.is === 'call' ? `calls ${part.name}` : part.is === 'media' ? part.text : [],
        ),
      }
    }),
  )
}

/** Variables as the server fills them: not in answers of an assistant. */
export const variablesOfPrompt = (messages: readonly ShownMessage[]): string[] =>
  variableNames(messages.flatMap(({ role, text }) => (role === 'assistant' ? [] : text)))

export type MessagePair = { before: ShownMessage | undefined; now: ShownMessage | undefined; isEqual: boolean }

const maxMs = 500

export function versionPairs(before: readonly ShownMessage[], now: readonly ShownMessage[]): MessagePair[] {
  const texts = (messages: readonly ShownMessage[]) => messages.map((message) => JSON.stringify(message))
  return pairsOf(texts(before), texts(now), maxMs).map((pair) => ({
    before: pair.before === undefined ? undefined : before[pair.before],
    now: pair.now === undefined ? undefined : now[pair.now],
    isEqual: pair.isEqual,
  }))
}

type LabelledVersion = { object_id: string; version_index: number; tags: string[] | null; aliases: string[] | null }

/** Aliases that the server keeps itself. */
const ownAlias = /^(?:latest|v\d+)$/

/** Tags and aliases of all versions, each with the version that it names. @returns texts by the id of the prompt */
export function versionLabels(versions: readonly LabelledVersion[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { object_id, version_index, tags, aliases } of versions) {
    const own = [...(aliases ?? []).filter((one) => !ownAlias.test(one)), ...(tags ?? [])]
    const texts = own.map((label) => `${label} (v${version_index})`)
    if (texts.length > 0) found.set(object_id, [...(found.get(object_id) ?? []), ...texts])
  }
  return found
}
