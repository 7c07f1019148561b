// The rest of a recorded value that none of the messages read from it shows.
import { dialects, settingMembers } from './message-dialects.ts'
import { isNothing, isObject, isPartType, type Message, openedText, tagKeys, written } from './message-parts.ts'

/** JsonObject that say what an object is, by words that are understood. */
const sayingKeys = new Set([...tagKeys, 'role', '_role', 'event', 'event.name'])
const roleWords = new Set(dialects.flatMap(({ roles = {} }) => Object.keys(roles)))
const isKnown = (word: string): boolean =>
  roleWords.has(word.toLowerCase()) || isPartType(word) || word === 'message' || word === 'constructor'

const dataUri = /^data:[^,]{0,200};base64,/

/** Every text of a value. */
function eachText(value: unknown, take: (text: string) => void): void {
  if (typeof value === 'string') take(value)
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) eachText(one, take)
}

const modules = new Set<unknown>(['langchain', 'langchain_core', 'schema', 'messages'])
/** Names of a class, as LangChain writes them. */
const isClass = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((word) => modules.has(word) || (typeof word === 'string' && roleWords.has(word.toLowerCase())))

const headOf = (one: object): string => (Array.isArray(one) ? '[' : `{${JSON.stringify(Object.keys(one)[0])}`)

/** The rest of values beside some messages. */
export type LeftOver = {
  /** @returns undefined when the messages show all of it */
  of(value: unknown): unknown
  /** The rest of this value is told elsewhere. */
  told(value: object): void
}

export function leftBeside(messages: readonly Message[]): LeftOver {
  const told = new Set<string>()
  const toldHeads = new Set<string>()
  const isTold = (one: object): boolean => toldHeads.has(headOf(one)) && told.has(written(one))
  const shown = new Set<string>()
  for (const { role, name, parts } of messages) eachText([role, name, parts], (text) => shown.add(text))
  // Values that are shown as JSON: only what begins like one of them is written to be compared.
  const heads = new Set([...shown].map((text) => /^(?:\[|\{\s*("(?:[^"\\]|\\.)*"))/.exec(text)?.[0].replace(/\s+/, '')))
  const isShown = (one: unknown): boolean => {
    if (typeof one === 'string') return shown.has(one) || shown.has(one.replace(dataUri, ''))
    if (typeof one !== 'object' || one === null) return false
    return heads.has(headOf(one)) && shown.has(written(one))
  }
  const left = (one: unknown): unknown => {
    if (isNothing(one) || isShown(one)) return undefined
    if (typeof one === 'string') {
      const inner = openedText(one)
      return inner === one ? one : left(inner)
    }
    if (Array.isArray(one)) {
      const items = one.map(left).filter((item) => item !== undefined)
      return items.length === 0 ? undefined : items
    }
    if (!isObject(one)) return one
    if (isTold(one)) return undefined
    const members = Object.entries(one).flatMap(([key, inner]): [string, unknown][] => {
      if (sayingKeys.has(key) && typeof inner === 'string' && isKnown(inner)) return []
      if ((key === 'lc' && inner === 1) || (key === 'id' && isClass(inner))) return []
      const kept = settingMembers.has(key) && !isNothing(inner) ? inner : left(inner)
      return kept === undefined ? [] : [[key, kept]]
    })
    return members.length === 0 ? undefined : Object.fromEntries(members)
  }
  return {
    of: left,
    told(value) {
      toldHeads.add(headOf(value))
      told.add(written(value))
    },
  }
}
