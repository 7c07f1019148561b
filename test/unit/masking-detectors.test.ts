// Detectors of masking over a labelled list: what they find, what only looks like it, and how often they are right. How
// long they take is in test/bars/hostile-text.test.ts.
// again: property
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newMaskRules } from '../../schemas/mask-rules.ts'
import { allAnchors } from '../../services/content/masking/anchors.ts'
import { type DetectorName, detectors } from '../../services/content/masking/detectors.ts'
import { createMasker } from '../../services/content/masking/masker.ts'
import { corpusOf } from '../fixtures/masking-corpus.ts'
import { createRandom } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'

const found = (name: DetectorName, text: string, key = ''): string[] =>
  detectors[name](text, key).map(({ start, end }) => text.slice(start, end))

/** Texts with what is to be found in them between `«` and `»`. */
const corpus: Record<DetectorName, { finds: string[]; passes: string[] }> = {
  email: {
    finds: [
      'write to «ann@example.com».',
      '<«a.b-c+d@mail.example.co.uk»>, «x_1@a-b.io»',
      'mailto:«jürgen@müller.de»?subject=x',
      '"«ANN@EXAMPLE.COM»"',
      '«a@xn--mller-kva.de»',
    ],
    passes: [
      'logo@2x.png',
      'npm i @scope/pkg@1.2.3',
      'user@localhost',
      '@ann',
      'a@b',
      'decorators @Input() x',
      'a@.com',
      'lib@4.1.0-beta',
    ],
  },
  card: {
    finds: [
      'card «4111 1111 1111 1111» exp 12/27',
      '«5500-0000-0000-0004»',
      '«378282246310005»,«6011111111111117»',
      'visa:«4012888888881881»!',
      'qty 2 «4111 1111 1111 1111» 12 27 123',
      'row 7 716 «5500-0000-0000-0004»',
      '«3530111333300000»',
      'card_«4111111111111111», PAN«5500000000000004», a«4111111111111111»',
      'v2_card_«4111 1111 1111 1111»_paid',
      'row 7,«4111111111111111».0,«4111111111111111».00',
    ],
    passes: [
      '4111 1111 1111 1112',
      '1767225600000',
      'order 1234567890123456',
      '550e8400-e29b-41d4-a716-446655440000',
      '3f4111111111111111',
      '41d4-a4111111111111111',
      'card_14111111111111111, card_41111111111111112',
      '4111111111111111.05',
      '4111111111111111.0.1',
      '41111111111111110000000000',
      '0000000000000000',
      'e29b-41d4-a716-446655440000',
      '3f41111111111111112e',
      '4111111111111111.5',
    ],
  },
  token: {
    finds: [
      `key «sk-${'a1B2'.repeat(10)}»`,
      `«sk-ant-api03-${'x'.repeat(40)}»`,
      `«ghp_${'A'.repeat(36)}» «github_pat_${'a1_'.repeat(10)}»`,
      '«AKIAIOSFODNN7EXAMPLE»',
      `«AIza${'x'.repeat(35)}»`,
      `«xoxb-123456789012-abcdef» «glpat-${'a'.repeat(20)}»`,
      `«hf_${'a'.repeat(34)}» «npm_${'a'.repeat(36)}» «chk_${'a'.repeat(50)}»`,
      '«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_123»',
      'Authorization: Bearer «abcdefghijklmnopqrstuvwxyz»',
      'postgres://app:«s3cr%21t»@db.example.com/x',
      '«-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----» and',
      `key_«sk-${'a1B2'.repeat(10)}» OPENAI_KEY«sk-${'a1B2'.repeat(10)}»`,
      `token«ghp_${'A'.repeat(36)}» x_«AKIAIOSFODNN7EXAMPLE» jwt_«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_123»`,
      'https://a.example/cb#access_token=«a1»&state=x, /cb#/done&id_token=«b2»',
      'https://a.example/?sv=2026&sig=«kq3Xw%2Bv8ZpA7%2F1cD9eFgH%3D»&se=1',
      'https://a.example/?Signature=«Ab9dEfGh12kL5678~_-»&X-Amz-Signature=«fe5f80f77d5fa3beca038a248ff027d0»',
      'https://a.example/v1?key=«abCd1234EfGh5678»&q=berlin',
      'cut off: «-----BEGIN PRIVATE KEY-----\nabc»',
    ],
    passes: [
      'task-abcdefghijklmnopqrstuvwxyz',
      'sk-short',
      'AKIAshort',
      'bearer of news',
      'https://example.com:8080/a@b',
      'eyJ.x',
      'ghp_short',
      '-----BEGIN PUBLIC KEY-----',
      'disk-2026-01-01-backup-of-everything',
      'minsk-airport-terminal-departures',
      '?key=user_profile_settings_page2&key=1234567890123456789',
      '?key=uploads/2026/a1b2c3d4.png&key=short1',
      '?sig=short&signature=required_for_all_uploads',
      '#monkey=a1B2c3D4e5F6g7H8i9',
    ],
  },
  phone: {
    finds: ['call «+49 30 901820», or «+1 (415) 555-2671»', 'tel:«+14155552671»'],
    passes: ['+1', '1+2345678', '+12345678901234567890', 'a+12345678', '2026-01-01'],
  },
  iban: {
    finds: ['pay to «DE89 3704 0044 0532 0130 00» now', '«GB29NWBK60161331926819»', '«FR1420041010050500013M02606»'],
    passes: ['DE89 3704 0044 0532 0130 01', 'AB12CD', 'XDE89370400440532013000', 'ISO9001 2015'],
  },
  ip: {
    finds: ['from «192.168.1.10»:443', '«2001:db8::ff00:42:8329»', '[«fe80::1:2»]', '«10.0.0.1».'],
    passes: ['1.2.3', '1.2.3.4.5', '256.1.1.1', '10:20:30', 'std::vector', 'v1.2.3.4', 'a::b', '12:34'],
  },
  us_ssn: { finds: [], passes: ['123-45-6789'] },
}

describe.each(Object.entries(corpus))('detector %s', (name, { finds, passes }) => {
  if (finds.length > 0)
    it.each(finds)('finds what is marked in %j', (marked) => {
      const expected = [...marked.matchAll(/«([^»]*)»/g)].map(([, text]) => text)
      expect(found(name as DetectorName, marked.replace(/[«»]/g, ''))).toEqual(expected)
    })
  it.each(passes)('takes nothing of %j', (text) => {
    expect(found(name as DetectorName, text)).toEqual([])
  })
})

describe('detectors that go by the name of a member', () => {
  it.each([
    ['phone', 'mobile', '030 / 901820', true],
    ['phone', 'workphone', '(415) 555-2671', true],
    ['phone', 'count', '901820', false],
    ['us_ssn', 'ssn', '123-45-6789', true],
    ['us_ssn', 'ssn', '000-45-6789', false],
    ['card', 'orderid', '4111111111111111', false],
    ['card', 'number', '4111111111111111', true],
    ['ip', 'version', '1.2.3.4', false],
    ['ip', 'host', '1.2.3.4', true],
  ] as const)('%s under the name %s takes %j: %s', (name, key, text, is) => {
    expect(found(name, text, key)).toEqual(is ? [text] : [])
  })
})

/** Precision and recall: of whole findings, in percent. */
function measured(name: DetectorName): { precision: string; recall: string } {
  let [right, hits, wanted] = [0, 0, 0]
  for (const one of corpusOf(name, 2_000)) {
    const all = found(name, one.text, one.key)
    hits += all.length
    if (one.wanted === null) continue
    wanted++
    if (all.some((hit) => hit.includes(one.wanted as string))) right++
  }
  const percent = (of: number) => ((right / of) * 100).toFixed(1)
  return { precision: percent(hits), recall: percent(wanted) }
}

it('over a generated corpus, half of it near misses, detectors are as often right as the manual says', async () => {
  const manual = await readFile('docs/privacy.md', 'utf8')
  const rows = [...manual.matchAll(/^\| `(\w+)` +\| +([\d.]+) % +\| +([\d.]+) % /gm)]
  expect(Object.fromEntries(rows.map(([, name, precision, recall]) => [name, { precision, recall }]))).toEqual(
    Object.fromEntries(Object.keys(detectors).map((name) => [name, measured(name as DetectorName)])),
  )
})

it('detectors come to an end of a hostile text, each step of which would find much again', () => {
  const random = createRandom(5)
  const some = ['@', 'a', 'a.', '+1', '1 ', '1', '::', ':a', 'eyJ', 'sk-', '://', 'bearer ']
  const pieces = [...some, '-----BEGIN PRIVATE KEY-----', 'DE89', '.', '1.', 'ysk-', '&sig=-', '#key=', '_']
  const texts = [
    ...pieces.map((piece) => piece.repeat(200_000 / piece.length)),
    Array.from({ length: 60_000 }, () => random.pick(pieces)).join(''),
  ]
  // Where the time grows with the square, the limit of the test ends it: 200 KB are worked on in milliseconds.
  for (const text of texts)
    for (const find of Object.values(detectors))
      expect(find(text, '').every(({ start, end }) => start < end && end <= text.length)).toBe(true)
})

it('masking comes to an end of a hostile text that begins JSON texts again and again', () => {
  const random = createRandom(6)
  const masker = createMasker([{ rules: newMaskRules.parse({ sets: ['@credentials', '@payment', '@contact'] }) }])
  const some = [
    '{"',
    '["',
    '"{',
    '\\"{',
    '{"a":',
    '[{',
    '[',
    '{"name":"token","value":',
    '"',
    '\\"',
    '\\\\"',
    '?password=',
    '=',
  ]
  const pieces = [...some, '```json\n{"a":1}', '{"value":[', '"a":"x",', '&token=', '}', ']', '\n', '%40', '1', '.']
  const texts = [
    ...pieces.map((piece) => piece.repeat(100_000 / piece.length)),
    ...pieces.map((piece) => `{"a":"${piece.repeat(50_000 / piece.length)}`),
    `${'{"value":'.repeat(20_000)}1${',"name":"password"}'.repeat(20_000)}`,
    Array.from({ length: 40_000 }, () => random.pick(pieces)).join(''),
  ]
  // As above: where the time grows with the square, the limit of the test ends it.
  for (const text of texts) {
    expect(masker.text('inputs', text).text).not.toBe('[masking failed]')
    const json = JSON.stringify({ a: text })
    const bytes = Buffer.from(json)
    expect(masker.anchors(bytes, 0, bytes.length)).toBeGreaterThanOrEqual(0)
    expect(() => JSON.parse(masker.json('inputs', json).text)).not.toThrow()
  }
})

const names = Object.keys(corpus) as DetectorName[]
const maskerOfAll = () => {
  const rules = names.map((name) => ({ id: name, detect: name, action: 'mask' }))
  return createMasker([{ rules: newMaskRules.parse({ rules }) }])
}

it('the anchors of a payload leave out no detector that finds something, whatever is around it', () => {
  const masker = maskerOfAll()
  const around = ['', ' ', '\n', '\t', '"', '\\', '\\n', ': ', ':', '(', 'é', '日', '.', '-', '/', '{"a":"', 'e\r\n']
  const random = createRandom(5)
  let masked = 0
  for (const name of names)
    for (const { text, key } of corpusOf(name, runs(400, 4_000))) {
      const one = `${random.pick(around)}${text}${random.pick(around)}`
      const value = random.chance(0.2) ? JSON.stringify({ [key]: one }) : one
      const json = JSON.stringify({ a: 1, [key]: value, z: [value] })
      const bytes = Buffer.from(json)
      const present = masker.anchors(bytes, 0, bytes.length)
      const whole = masker.json('inputs', json).text
      if (whole !== json) masked++
      expect(present === 0 ? json : masker.json('inputs', json, present).text).toBe(whole)
    }
  expect(masked).toBeGreaterThan(names.length * 100)
})

it('the same of texts that are put together of parts of what detectors find', () => {
  const signs = [...'@+:-_.AJbBIKSzye"\\\\/u {}07 ', 'é', 'DE89', '::', 'a:b:c:d', '::1:', '+49', '1.2.3']
  const tokens = ['sk-', 'glpat-', 'xoxb-', 'ghp_', 'npm_', 'hf_', 'AKIA', 'eyJ', 'bearer', 'BEARER', '?key=', '#Key=']
  const digits = ['4111 1111', '41111111.', '111111e8', '3f4-', 'a_', '4111 1111 1111 1111', 'monkey=', 'mobile']
  const part = fc.constantFrom(...signs, ...tokens, ...digits, 'ann@example.com', '"Phone": "')
  const masker = maskerOfAll()
  let seen = 0
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const json = JSON.stringify({ [parts.slice(5).join('')]: parts.join('') })
      const bytes = Buffer.from(json)
      const present = masker.anchors(bytes, 0, bytes.length)
      seen |= present
      const kept = present === 0 ? json : masker.json('inputs', json, present).text
      expect(kept).toBe(masker.json('inputs', json).text)
    }),
    { numRuns: runs(500, 20_000) },
  )
  expect(seen).toBe(allAnchors)
})
