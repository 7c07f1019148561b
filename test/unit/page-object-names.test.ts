// Names of objects: a name that the server would refuse is told, and never changed in silence.
import { expect, it } from 'vitest'
import { nameFault } from '../../services/web/page/engine/object-names.ts'

it.each([
  ['failed calls!', 'such as failed-calls'],
  [' padded', 'such as padded'],
  ['naïve', 'such as naive'],
  ['a/b', 'such as a-b'],
  ['日本', '"-" only'],
  ['---', '"-" only'],
  ['x'.repeat(121), 'at most 120'],
])('%s is none: %s', (typed, said) => expect(nameFault(typed)).toContain(said))

it('a text that the server accepts is a name, unless it is taken', () => {
  for (const name of ['a', 'failed-calls', 'v1.2_x', '_', '0']) expect(nameFault(name)).toBeUndefined()
  expect(nameFault('')).toBeUndefined()
  expect(nameFault('a', ['a'])).toContain('already used')
})
