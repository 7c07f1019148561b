// tier: bars
// Texts made of what is looked for: the detectors of masking, and code that is coloured in the page.
import { it } from 'vitest'
import { newMaskRules } from '../../schemas/mask-rules.ts'
import { detectors } from '../../services/content/masking/detectors.ts'
import { createMasker } from '../../services/content/masking/masker.ts'
import { codePieces } from '../../services/web/page/engine/code-pieces.ts'
import { bar } from '../fixtures/bar.ts'
import { createRandom } from '../fixtures/random.ts'

/** Time of the processor, which other processes take no part of. */
function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** The least of three: the collector works in some of them. */
const leastCpuMs = (work: () => unknown): number => Math.min(...Array.from({ length: 3 }, () => cpuMs(work)))

it('ten megabytes of pieces of what detectors look for, against one', () => {
  const random = createRandom(9)
  const pieces = ['@', 'a.', '+1', '1 ', '::', ':a', 'eyJ', 'sk-', '://', 'bearer ', '-----BEGIN PRIVATE KEY-----']
  const more = ['DE89', '1.', 'ghp_', 'hello world ', 'é', '4111 1111 ', '{"a":"', '\n', 'xoxb-', '-----END ', '%40']
  const all = [...pieces, ...more]
  const text = Array.from({ length: 3_000_000 }, () => random.pick(all)).join('')
  const growths = Object.values(detectors).map((find) => {
    const ofLength = (length: number) => leastCpuMs(() => find(text.slice(0, length), 'text'))
    return ofLength(10_000_000) / Math.max(ofLength(1_000_000), 20)
  })
  bar('hostile-text/growth', Math.max(...growths))
}, 600_000)

it('four megabytes of pieces of JSON texts in a text, against four hundred kilobytes', () => {
  const random = createRandom(9)
  const masker = createMasker([{ rules: newMaskRules.parse({ sets: ['@credentials', '@contact'] }) }])
  const pieces = [
    '{"',
    '["',
    '"{',
    '\\"{',
    '{"a":',
    '[{',
    '"name":"token",',
    '"value":',
    '"',
    '\\"',
    '?password=',
    '=',
    '}',
    ']',
  ]
  const text = Array.from({ length: 1_500_000 }, () => random.pick(pieces)).join('')
  const ofLength = (length: number) => leastCpuMs(() => masker.text('inputs', text.slice(0, length)))
  bar('hostile-text/growth', ofLength(4_000_000) / Math.max(ofLength(400_000), 20))
}, 600_000)

it('200 KB of what one detector looks for', () => {
  const random = createRandom(5)
  const some = ['@', 'a', 'a.', '+1', '1 ', '1', '::', ':a', 'eyJ', 'sk-', '://', 'bearer ']
  const pieces = [...some, '-----BEGIN PRIVATE KEY-----', 'DE89', '.', '1.']
  const texts = [
    ...pieces.map((piece) => piece.repeat(200_000 / piece.length)),
    Array.from({ length: 60_000 }, () => random.pick(pieces)).join(''),
  ]
  bar(
    'hostile-text/detector',
    Math.max(...texts.flatMap((text) => Object.values(detectors).map((find) => cpuMs(() => find(text, ''))))),
  )
}, 600_000)

it('code in which nothing is closed', () => {
  const parts = ['"', '"""', '/*', '"\\', '@a', 'class a']
  bar(
    'hostile-text/code',
    cpuMs(() => parts.map((part) => codePieces(part.repeat(20_000)))),
  )
}, 600_000)
