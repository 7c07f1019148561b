// again: property
// Each dialect of messages by its golden file: what is shown of it, and that nothing of it is lost.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversationOf } from '../../services/web/page/engine/conversation.ts'
import { dialects } from '../../services/web/page/engine/message-dialects.ts'
import type { Message, Part } from '../../services/web/page/engine/message-parts.ts'
import { runs } from '../fixtures/runs.ts'

const folder = join(import.meta.dirname, '../golden/conversations')
const files = readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []))

type Case = { from: string; inputs: unknown; output: unknown; shown: string[] }
const casesOf = (dialect: string): Case[] => JSON.parse(readFileSync(join(folder, `${dialect}.json`), 'utf8')) as Case[]
const cases = files.flatMap((dialect) => casesOf(dialect).map((one) => [dialect, one.from, one] as const))

/** Documents on one line. */
const compact = (text: string): string => (/^[[{]\s*["{[]/.test(text) ? JSON.stringify(JSON.parse(text)) : text)

function lineOf(role: string, part: Part): string {
  switch (part.is) {
    case 'call':
      return `${role} -> ${part.name}(${compact(part.arguments)}) ${part.id ?? ''}`.trim()
    case 'answer':
      return `${role} <- ${part.name === null ? '' : `${part.name}: `}${compact(part.text)} ${part.id ?? ''}`.trim()
    case 'media': {
      const { source } = part
      const bytes = source?.from === 'base64' ? `${source.type ?? ''} ${source.base64}`.trim() : ''
      return `${role} media: ${source?.from === 'address' ? source.address : bytes}`
    }
    case 'text':
      return `${role}: ${part.text}`
    default:
      return `${role} ${part.is}: ${compact(part.text)}`
  }
}

describe('a dialect', () => {
  it('has a golden file for each row of the table, and a row for each file', () => {
    expect(files.toSorted()).toEqual(dialects.map(({ name }) => name).toSorted())
  })

  it.each(cases)('%s: %s', (_name, _from, { inputs, output, shown }) => {
    const messages = conversationOf(inputs, output) ?? []
    expect(messages.flatMap(({ role, parts }) => parts.map((part) => lineOf(role, part)))).toEqual(shown)
  })

  it.each(cases)('%s: %s, as text', (_name, _from, { inputs, output, shown }) => {
    const messages = conversationOf(JSON.stringify(inputs), JSON.stringify(output)) ?? []
    expect(messages.flatMap(({ role, parts }) => parts.map((part) => lineOf(role, part)))).toEqual(shown)
  })
})

/** Words that say what something is, and are shown as what they say. */
const sayingKeys = new Set(['role', '_role', 'type', 'part_kind', 'block_type', 'kind', 'event', 'event.name', 'id'])
const says = (key: string, text: string): boolean => sayingKeys.has(key) || ['system', 'human', 'ai'].includes(text)

/** A value with each text replaced by one that is nowhere else, but where it says what something is; some members are added. */
function marked(value: unknown, next: () => string, isNew: () => boolean, key = ''): unknown {
  if (typeof value === 'string') return says(key, value) && !isNew() ? value : next()
  if (Array.isArray(value)) return value.map((one) => marked(one, next, isNew, key))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, one]) => [name, marked(one, next, isNew, name)] as const)
  return Object.fromEntries(isNew() ? [...members, [next(), { [next()]: [next()] }]] : members)
}

/** Everything of the messages that is shown. */
const shownText = (messages: readonly Message[]): string => JSON.stringify(messages)

describe('nothing of a payload is lost', () => {
  it.each(files)('of %s, whatever its texts are and whatever stands beside them', (dialect) => {
    fc.assert(
      fc.property(
        fc.constantFrom(...casesOf(dialect)),
        fc.array(fc.integer({ min: 0, max: 11 }), { minLength: 40, maxLength: 40 }),
        ({ inputs, output }, choices) => {
          let count = 0
          let asked = 0
          const next = () => `mark${++count}end`
          const isNew = () => choices[asked++ % choices.length] === 0
          const [some, other] = [marked(inputs, next, isNew), marked(output, next, isNew)]
          const messages = conversationOf(some, other)
          // Where it is none, inputs and output are shown as they are.
          if (messages === null) return
          const shown = shownText(messages)
          for (const [mark] of JSON.stringify([some, other]).matchAll(/mark\d+end/g)) expect(shown).toContain(mark)
        },
      ),
      { numRuns: runs(40, 4_000) },
    )
  })

  it('finds the messages of each whatever its texts are', () => {
    for (const [dialect, , { inputs, output }] of cases) {
      let count = 0
      const again = (value: unknown) =>
        marked(
          value,
          () => `mark${++count}end`,
          () => false,
        )
      expect(conversationOf(again(inputs), again(output)), dialect).not.toBeNull()
    }
  })
})
