// Masking of payloads: rules, what stands in the place of what they hit, and what stays as it was.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MaskedField } from '../../schemas/mask-rules.ts'
import { newMaskRules } from '../../schemas/mask-rules.ts'
import { createMasker, type Masker } from '../../services/content/masking/masker.ts'
import { createMaskings } from '../../services/content/masking/maskings.ts'
import { literalOf, patternFaults } from '../../services/content/masking/patterns.ts'
import { hiddenNames } from '../../services/content/masking/secret-names.ts'
import { isSensitiveKey, mayHoldSensitiveKey } from '../../services/content/redact.ts'
import { runs } from '../fixtures/runs.ts'

const secret = Buffer.alloc(32, 7)
const rulesOf = (rules: object) => newMaskRules.parse(rules)
const maskerOf = (rules: object, options: Parameters<typeof createMasker>[1] = { secret }): Masker =>
  createMasker([{ rules: rulesOf(rules) }], options)

const allSets = { sets: ['@credentials', '@payment', '@contact'] }
const masked = (rules: object, json: string, field: MaskedField = 'inputs'): string =>
  maskerOf(rules).json(field, json).text

describe('a payload', () => {
  it.each([
    ['{"a":"mail ann@example.com and bob@example.org"}', '{"a":"mail [email] and [email]"}'],
    ['{ "a" : "4111 1111 1111 1111" }', '{ "a" : "[card …1111]" }'],
    [
      '{"n":4111111111111111,"m":1.50,"big":123456789012345678901234}',
      '{"n":"[card …1111]","m":1.50,"big":123456789012345678901234}',
    ],
    ['{"order_id":4111111111111111}', '{"order_id":4111111111111111}'],
    ['"at 0.5 4111111111111111, no.4111111111111111"', '"at 0.5 [card …1111], no.4111111111111111"'],
    ['"next\\n.4111111111111111"', '"next\\n.[card …1111]"'],
    [
      '{"user":{"Db-Password":"x y","api_key":["a","b"]}}',
      '{"user":{"Db-Password":"[credential]","api_key":"[credential]"}}',
    ],
    ['{"password":null,"pwd":""}', '{"password":null,"pwd":""}'],
    ['{"args":"{\\"to\\":\\"ann@example.com\\",\\"n\\":1.0}"}', '{"args":"{\\"to\\":\\"[email]\\",\\"n\\":1.0}"}'],
    ['{"args":"{\\"password\\":\\"x\\"}"}', '{"args":"{\\"password\\":\\"[credential]\\"}"}'],
    ['{"a":"ann\\u0040example.com"}', '{"a":"[email]"}'],
    ['{"p\\u0061ssword":"x"}', '{"p\\u0061ssword":"[credential]"}'],
    ['"call +49 30 901820"', '"call [phone]"'],
    ['[["a@b.de"],{}, [] ,true]', '[["[email]"],{}, [] ,true]'],
    ['{"ref":"weave:///a/b/object/x@example.com:1"}', '{"ref":"weave:///a/b/object/[email]:1"}'],
    [
      '["weave:///a/b/object/x:1/key/ann%40example.com","weave:///ann@example.com/b/call/4111111111111111"]',
      '["weave:///a/b/object/x:1/key/%5Bemail%5D","weave:///[email]/b/call/4111111111111111"]',
    ],
    [
      '"weave:///a/b/op/predict:oHBLLUr5pVfDC4mbGGUd6xpbCAxfCGVSaFMCxzPrsV4"',
      '"weave:///a/b/op/predict:oHBLLUr5pVfDC4mbGGUd6xpbCAxfCGVSaFMCxzPrsV4"',
    ],
    // Numbers, as they are and as they are meant.
    ['[-4111111111111111,4111111111111111.0,4.111111111111111e15]', '["[card …1111]","[card …1111]","[card …1111]"]'],
    [
      '[4111111111111111e0,0.4111111111111111e16,41111111.11111111E8,41111111111111110e-1,"4111111111111111.0","4.111111111111111e+15"]',
      JSON.stringify(Array(6).fill('[card …1111]')),
    ],
    ['{"phone":4.93090182e9,"mobile":"4930901820.0"}', '{"phone":"[phone]","mobile":"[phone]"}'],
    [
      '[4.111111111111111e14,4111111111111111e1,"4111111111111111.5"]',
      '[4.111111111111111e14,4111111111111111e1,"4111111111111111.5"]',
    ],
    [
      '{"phone":4930901820,"total_tokens":4111111111111111,"n":0.1}',
      '{"phone":"[phone]","total_tokens":4111111111111111,"n":0.1}',
    ],
    // Names of secrets, and what only sounds like one.
    [
      '{"github_token":"a","idToken":"b","X-Session-Cookie":"c","db.pass":"d","JWT":"e","GPG_SIGNING_KEY":"f","connectionString":"g"}',
      '{"github_token":"[credential]","idToken":"[credential]","X-Session-Cookie":"[credential]","db.pass":"[credential]","JWT":"[credential]","GPG_SIGNING_KEY":"[credential]","connectionString":"[credential]"}',
    ],
    [
      '{"input_tokens":7,"max_tokens":"7","token":7,"eos_token":"</s>","compass":"n","primary_key":"id","is_secret":true,"first_pass":"a"}',
      '{"input_tokens":7,"max_tokens":"7","token":7,"eos_token":"</s>","compass":"n","primary_key":"id","is_secret":true,"first_pass":"a"}',
    ],
    [
      '{"logprobs":{"content":[{"token":"a","logprob":-0.1}]},"properties":{"password":{"type":"string"}}}',
      '{"logprobs":{"content":[{"token":"a","logprob":-0.1}]},"properties":{"password":{"type":"string"}}}',
    ],
    [
      '[{"name":"authorization","value":"a"},{"Value":{"s":"b"},"Name":"DB_PASSWORD"},{"name":"x","value":"c"}]',
      '[{"name":"authorization","value":"[credential]"},{"Value":"[credential]","Name":"DB_PASSWORD"},{"name":"x","value":"c"}]',
    ],
    ['"https://a.example/?user=b&password=s3cret#x"', '"https://a.example/?user=b&password=[token]#x"'],
    // JSON texts within texts.
    ['"```json\\n{\\"password\\":\\"x\\"}\\n```"', '"```json\\n{\\"password\\":\\"[credential]\\"}\\n```"'],
    ['"\uFEFF {\\"pwd\\":\\"x\\"}"', '"\uFEFF {\\"pwd\\":\\"[credential]\\"}"'],
    [
      '"args {a}: {\\"pwd\\":\\"x\\"}\\n{\\"n\\":1.0,\\"pwd\\":2} [1]"',
      '"args {a}: {\\"pwd\\":\\"[credential]\\"}\\n{\\"n\\":1.0,\\"pwd\\":\\"[credential]\\"} [1]"',
    ],
    [
      JSON.stringify({ a: JSON.stringify(JSON.stringify({ pwd: 'x' })) }),
      JSON.stringify({ a: JSON.stringify(JSON.stringify({ pwd: '[credential]' })) }),
    ],
    [
      JSON.stringify(JSON.stringify(JSON.stringify({ pwd: 'x' })).slice(1, -1)),
      JSON.stringify(JSON.stringify(JSON.stringify({ pwd: '[credential]' })).slice(1, -1)),
    ],
  ])('%s becomes %s', (json, expected) => {
    expect(masked(allSets, json)).toBe(expected)
    const bytes = Buffer.from(json)
    if (json !== expected) expect(maskerOf(allSets).anchors(bytes, 0, bytes.length)).not.toBe(0)
  })

  it('in which nothing is found is the same text, and is told by its bytes alone', () => {
    const content = 'Tell me a joke of 2026-05-01, please'
    const json = `{"messages":[{"role":"user","content":"${content}"}],"n":1.0,"score":0.4111111111111111}`
    const masker = maskerOf(allSets)
    const bytes = Buffer.from(json)
    expect(masker.anchors(bytes, 0, bytes.length)).toBe(0)
    expect(masker.json('inputs', json)).toMatchObject({ text: json })
  })
})

it('whatever is hidden without a rule is masked by @credentials, however it is spelled', () => {
  const { whole, endings } = hiddenNames
  const names = [...whole, ...endings].flatMap((name) => [name, `${name.slice(0, 3)}_${name.slice(3).toUpperCase()}`])
  for (const name of [...names, ...endings.map((ending) => `my_${ending}`)]) {
    expect([name, isSensitiveKey(name)]).toEqual([name, true])
    expect(mayHoldSensitiveKey(`{"${name}":"x"}`)).toBe(true)
    expect(masked({ sets: ['@credentials'] }, `{"${name}":"x"}`)).toBe(`{"${name}":"[credential]"}`)
  }
})

describe('rules', () => {
  const one = (rule: object) => ({ rules: [{ id: 'r', action: 'mask', ...rule }] })
  it.each([
    [
      'a path',
      one({ path: 'inputs.customer.name' }),
      '{"customer":{"name":"Ann","names":1}}',
      '{"customer":{"name":"[r]","names":1}}',
    ],
    [
      'a path through lists',
      one({ path: 'inputs.rows.name' }),
      '{"rows":[{"name":"Ann"},[{"name":2}]]}',
      '{"rows":[{"name":"[r]"},[{"name":"[r]"}]]}',
    ],
    [
      'one level',
      one({ path: 'inputs.*.name' }),
      '{"a":{"name":1},"name":2,"b":{"c":{"name":3}}}',
      '{"a":{"name":"[r]"},"name":2,"b":{"c":{"name":3}}}',
    ],
    [
      'any depth',
      one({ path: 'inputs.**.name' }),
      '{"name":0,"b":{"c":{"name":{"x":1}}}}',
      '{"name":"[r]","b":{"c":{"name":"[r]"}}}',
    ],
    ['a path of another field', one({ path: 'output.name' }), '{"name":1}', '{"name":1}'],
    [
      'names',
      one({ keys: ['*_secret', 'X-Tenant'] }),
      '{"mySecret":"a","xTenant":7,"secretary":"b"}',
      '{"mySecret":"[r]","xTenant":"[r]","secretary":"b"}',
    ],
    ['a drop', one({ keys: ['note'], action: 'drop' }), '{"note":{"a":[1]}}', '{"note":"[dropped]"}'],
    [
      'a pattern',
      one({ pattern: 'ACME-\\d{6}' }),
      '{"t":"see ACME-123456 and ACME-12"}',
      '{"t":"see [r] and ACME-12"}',
    ],
    ['other fields only', one({ detect: 'email', in: ['output'] }), '{"t":"a@b.de"}', '{"t":"a@b.de"}'],
  ])('by %s', (_, rules, json, expected) => {
    expect(masked(rules, json)).toBe(expected)
    const bytes = Buffer.from(json)
    if (json !== expected) expect(maskerOf(rules).anchors(bytes, 0, bytes.length)).not.toBe(0)
  })

  it('that hash give equal texts equal marks, which depend on the secret', () => {
    const rules = { rules: [{ id: 'm', detect: 'email', action: 'hash' }] }
    const text = masked(rules, '["Ann@example.com","ann@EXAMPLE.com","bob@example.com"]')
    const [first, second, third] = JSON.parse(text) as string[]
    expect(first).toMatch(/^\[email:[0-9a-f]{16}\]$/)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    const other = maskerOf(rules, { secret: Buffer.alloc(32, 8) }).json('inputs', '["ann@example.com"]').text
    expect(other).not.toContain(first)
  })

  it('pass over what is allowed', () => {
    expect(masked({ ...allSets, allow: ['@example\\.com$'] }, '["a@example.com","a@example.org"]')).toBe(
      '["a@example.com","[email]"]',
    )
  })

  /** The masker of the project `e/p`, and what it counts. */
  const maskerOfScopes = (scopes: Record<string, object>, floor: string[] = []) => {
    const counted: Record<string, number> = {}
    const known = new Map(Object.entries(scopes).map(([scope, rules]) => [scope, { rules: rulesOf(rules) }]))
    const source = { version: () => 1, scopes: () => known }
    const onHits = ({ rule, hits }: { rule: string; hits: number }) => {
      counted[rule] = (counted[rule] ?? 0) + hits
    }
    return { masker: createMaskings(source, { floor, onHits }).of('e/p'), counted }
  }
  const mixed = '["a@b.de","c@d.de","4111111111111111"]'

  it('of everything, the entity and the project add up, and a floor stays when they are off', () => {
    const mail = { rules: [{ id: 'm', detect: 'email', action: 'drop' }] }
    const { masker } = maskerOfScopes({ '*': mail, e: { sets: ['@payment'] }, 'e/p': { mode: 'off', ...allSets } })
    expect(masker?.json('inputs', mixed).text).toBe('["[dropped]","[dropped]","[card …1111]"]')
    expect(maskerOfScopes({ 'e/p': { mode: 'off', ...allSets }, 'e/q': mail, f: mail }).masker).toBeUndefined()
    expect(maskerOfScopes({}, ['@payment']).masker?.json('inputs', mixed).text).toBe(
      '["a@b.de","c@d.de","[card …1111]"]',
    )
  })

  it('of a wider scope are not taken back by what a narrower one allows', () => {
    const allow = ['^a@', '^4111']
    const text = (scopes: Record<string, object>, floor: string[] = []) =>
      maskerOfScopes(scopes, floor).masker?.json('inputs', '["a@b.de",4111111111111111,{"password":"a@"}]').text
    const untouched = '["a@b.de",4111111111111111,{"password":"a@"}]'
    const hidden = '["[email]","[card …1111]",{"password":"[credential]"}]'
    expect(text({ 'e/p': { ...allSets, allow } })).toBe(untouched)
    expect(text({ e: { allow }, 'e/p': allSets })).toBe(untouched)
    expect(text({ e: allSets, 'e/p': { ...allSets, allow } })).toBe(hidden)
    expect(text({ 'e/p': { ...allSets, allow } }, allSets.sets)).toBe(hidden)
  })

  it('of a dry run count and change nothing, also beside others that mask', () => {
    const dry = { mode: 'dry_run', sets: ['@contact'] }
    const alone = maskerOfScopes({ 'e/p': dry })
    expect(alone.masker?.json('inputs', mixed).text).toBe(mixed)
    expect(alone.counted).toEqual({ '@contact:email': 2 })
    const bytes = Buffer.from(mixed)
    expect(alone.masker?.anchors(bytes, 0, bytes.length)).not.toBe(0)
    const beside = maskerOfScopes({ e: { sets: ['@payment'] }, 'e/p': dry })
    expect(beside.masker?.json('inputs', mixed).text).toBe('["a@b.de","c@d.de","[card …1111]"]')
    expect(beside.counted).toEqual({ '@contact:email': 2, '@payment:card': 1 })
    expect(beside.masker?.text('exception', 'of a@b.de').text).toBe('of a@b.de')
  })

  it('look into ids of threads and turns by their paths only', () => {
    expect(maskerOf(allSets).text('thread_id', 'a@b.de').text).toBe('a@b.de')
    expect(maskerOf({ rules: [{ id: 't', path: 'thread_id', action: 'mask' }] }).text('thread_id', 'x').text).toBe(
      '[t]',
    )
    expect(maskerOf(allSets).text('exception', 'no mail to a@b.de').text).toBe('no mail to [email]')
  })

  it('are counted each time that a name of an op comes, also where the mark says the same', () => {
    const rules = [
      { id: 'm', detect: 'email', action: 'mask' },
      { id: 'r', pattern: '\\[r\\]', action: 'mask' },
    ]
    const masker = maskerOf({ rules })
    const ask = (text: string) => [masker.text('op_name', text).text, masker.hits()]
    expect(['chat', 'chat', 'to a@b.de', 'to a@b.de', 'of [r]', 'of [r]'].map(ask)).toEqual([
      ['chat', 0],
      ['chat', 0],
      ['to [email]', 1],
      ['to [email]', 2],
      ['of [r]', 3],
      ['of [r]', 4],
    ])
    const placed = maskerOf({ rules: [{ id: 'x', keys: ['exception'], action: 'mask' }] })
    expect([placed.text('op_name', 'chat').text, placed.text('exception', 'chat').text]).toEqual(['chat', '[x]'])
  })

  it.each([
    [{ rules: [{ id: 'a', action: 'mask' }] }, 'needs one of'],
    [{ rules: [{ id: 'a', action: 'mask', detect: 'email', path: 'inputs.a' }] }, 'needs one of'],
    [{ rules: [{ id: 'a', action: 'mask', path: 'inputs' }] }, 'must begin'],
    [{ rules: [{ id: 'a', action: 'mask', path: 'x.y' }] }, 'must begin'],
    [{ sets: ['@all'] }, 'nvalid'],
    [{ rules: Array.from({ length: 21 }, (_, n) => ({ id: `r${n}`, pattern: 'abc', action: 'mask' })) }, 'at most 20'],
  ])('such as %j are refused', (rules, message) => {
    expect(JSON.stringify(newMaskRules.safeParse(rules).error?.issues)).toContain(message)
  })

  it('with patterns that are no RE2, match nothing or cost too much are refused with their place', async () => {
    const most = { reference: 1e6, prepare: 1e6 }
    const faults = (pattern: string, less: Partial<typeof most> = {}) =>
      patternFaults(rulesOf({ rules: [{ id: 'a', pattern, action: 'mask' }] }), { ...most, ...less })
    expect(await faults('ACME-\\d{6}')).toEqual([])
    expect(await faults('(?=a)')).toMatchObject([{ loc: ['rules', 0, 'pattern'] }])
    expect(await faults('a*')).toMatchObject([{ msg: expect.stringContaining('empty text') }])
    expect(await faults('\\w+ly', { reference: 0 })).toMatchObject([{ msg: expect.stringMatching(/takes \d+ us for/) }])
    expect(await faults('\\w+ly', { prepare: 0 })).toMatchObject([{ msg: expect.stringContaining('to prepare') }])
    // Whatever the machine: hundreds of steps for each letter, and thousands of parts.
    expect(await patternFaults(rulesOf({ allow: [`${'[a-z]{1,900}'.repeat(10)}Q`] }))).toMatchObject([
      { loc: ['allow', 0] },
    ])
  })

  it.each([
    ['ACME-\\d{6}', 'ACME-'],
    ['ids? of x', 's of x'],
    ['abc+d', 'abc'],
    ['a|bcd', ''],
    ['(?i)abc', ''],
    ['[abc]def\\wgh', 'def'],
    ['abc{2}', 'ab'],
  ])('of the pattern %j are looked for where %j stands', (pattern, literal) => {
    const sure = literalOf(pattern)
    expect(literal.startsWith(sure) || literal.includes(sure)).toBe(true)
    if (literal === '') expect(sure).toBe('')
  })
})

it('a payload that cannot be masked is not stored, and its fault is told', () => {
  const faults: unknown[] = []
  const masker = maskerOf(
    { rules: [{ id: 'm', detect: 'email', action: 'hash' }] },
    { secret: undefined, onFailure: (fault) => faults.push(fault) },
  )
  expect(JSON.parse(masker.json('inputs', '{"a":"x@y.de"}').text)).toEqual({ masking: '[masking failed]' })
  expect(masker.json('output', '"x@y.de"').text).toBe('"[masking failed]"')
  expect(faults).toHaveLength(2)
})

const marker = 'marker@example.com'
const anyJson = fc.json({ maxDepth: 4 })
const withMarkers = fc
  .tuple(fc.jsonValue({ maxDepth: 3 }), fc.array(fc.string({ unit: 'binary', maxLength: 8 }), { maxLength: 4 }))
  .map(([value, texts]) => JSON.stringify({ value, texts: texts.map((text) => `${text} ${marker} ${text}`) }))

it('masked payloads are valid JSON in which nothing else has changed, and hold no marker', () => {
  const masker = maskerOf({ rules: [{ id: 'mail', detect: 'email', action: 'drop' }] })
  fc.assert(
    fc.property(fc.oneof(anyJson, withMarkers), (json) => {
      const { text } = masker.json('output', json)
      expect(text).not.toContain(marker)
      const inside = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value), (_, item) =>
          typeof item === 'string' ? masker.text('output', item).text : item,
        )
      expect(JSON.parse(text)).toEqual(inside(JSON.parse(json)))
      const bytes = Buffer.from(json)
      if (text !== json) expect(masker.anchors(bytes, 0, bytes.length)).not.toBe(0)
    }),
    { numRuns: runs(500, 20_000) },
  )
})
