// The conventions that are kept for a kind of span find in it what all of them would.
import { expect, it } from 'vitest'
import { type Conventions, createConventions, type Source } from '../../services/ingest/otel/conventions.ts'
import { expand } from '../../services/ingest/otel/expand.ts'
import { present, set } from '../../services/ingest/otel/find.ts'
import { conventionsFor } from '../../services/ingest/otel/span-conventions.ts'
import type { Value } from '../../services/ingest/otel/values.ts'
import { createRandom } from '../fixtures/random.ts'

const isSource = (value: unknown): value is Source => typeof value === 'object' && value !== null && 'paths' in value

/** Lists of sources by where they lie; a list that is shortened keeps the name of what it is for. */
function listsOf(value: object, path: string, lists = new Map<string, Source[]>()): Map<string, Source[]> {
  if (value instanceof Map || isSource(value)) return lists
  if (Array.isArray(value) && value.length > 0 && value.every(isSource)) return lists.set(path, value)
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== 'object' || item === null) continue
    listsOf(item, `${path}.${item.target ?? item.field ?? item.source?.key ?? name}`, lists)
  }
  return lists
}

const rootOf = (keys: string[], values: Value[]) =>
  expand(
    { keys, values },
    { extract: () => null, isNonNative: false, budget: { left: 1e9, limit: 1e9 } as never, faults: null },
  )

for (const weaveFirst of [false, true]) {
  const all = createConventions({ vendorNamespaces: ['weave', 'wandb'], wirePrefix: 'wb', weaveFirst })
  const lists = listsOf(all, '')
  const known = [...new Set([...lists.values()].flat().flatMap(({ paths }) => paths.map((path) => path.join('.'))))]
  const texts = ['{"a":1,"model":"m","0":{"content":"c"}}', '[]', 'x', '']
  const found = (of: Conventions, name: string, read: (sources: Source[]) => unknown) =>
    read(listsOf(of, '').get(name) ?? [])

  it(`find what all of them find (${weaveFirst ? 'weave first' : 'in their own order'})`, () => {
    const random = createRandom(41)
    const other = () => `${random.pick(['gen_ai', 'llm', 'own', 'ai', 'metadata'])}.${random.pick(['x', 'usage', '0'])}`
    for (let round = 0; round < 400; round++) {
      const keys = Array.from({ length: 1 + random.below(6) }, () => {
        const key = random.below(5) === 0 ? other() : random.pick(known)
        const parts = key.split('.')
        // A parent of what is looked for, or something below it.
        const cut = random.below(4)
        return cut === 0 ? parts.slice(0, 1 + random.below(parts.length)).join('.') : cut === 1 ? `${key}.0` : key
      })
      const values = keys.map((): Value => random.pick<Value>([...texts, 7, 0, true]))
      const root = rootOf(keys, values)
      const refined = conventionsFor(all, keys)
      for (const [name, sources] of lists) {
        const what = `${keys.join(' ')}: ${name}`
        expect(found(refined, name, (some) => present(root, some)) ?? null, what).toEqual(present(root, sources))
        expect(
          found(refined, name, (some) => set(root, some)),
          what,
        ).toEqual(set(root, sources))
      }
    }
  })
}

it('are made once for spans of the same beginnings', () => {
  const all = createConventions({ vendorNamespaces: ['weave'], wirePrefix: 'wb', weaveFirst: false })
  const first = conventionsFor(all, ['gen_ai.request.model', 'llm.input_messages.0.message.role', 'mine.a'])
  expect(conventionsFor(all, ['gen_ai.request.top_p', 'llm.input_messages.7.message.role', 'yours.b'])).toBe(first)
  expect(first.inputs.length).toBeLessThan(all.inputs.length)
  expect(conventionsFor(all, ['gen_ai.usage.input_tokens'])).not.toBe(first)
})
