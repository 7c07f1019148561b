// Properties of templates in messages and of the guard of addresses, over generated texts and notations.
// again: property
import type { LookupAddress } from 'node:dns'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillMessages, TemplateError } from '../../services/content/message-template.ts'
import { baseUrlFault } from '../../services/core/http/public-url.ts'
import { createGuardedLookup, ForbiddenAddress } from '../../services/inference/url-guard.ts'
import { runs } from '../fixtures/runs.ts'

const fill = (content: string, variables: Record<string, unknown>) =>
  (fillMessages([{ role: 'user', content }], variables, 1_000_000)[0] as { content: string }).content

const braces = (text: string) => text.replaceAll('{', '{{').replaceAll('}', '}}')
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/)
const tricky = fc.oneof(fc.string(), fc.constantFrom('{a}', '{{', '}', '{}', '{0}', '$', '{a!r:>{b}}'))

describe('templates', () => {
  it('put each value in once: what it holds is not read again', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ before: tricky, name, value: tricky })), tricky, (parts, tail) => {
        const variables = Object.fromEntries(parts.map((part) => [part.name, part.value]))
        const template = parts.map((part) => `${braces(part.before)}{${part.name}}`).join('') + braces(tail)
        const expected = parts.map((part) => part.before + variables[part.name]).join('') + tail
        expect(fill(template, variables)).toBe(expected)
      }),
    )
  })

  it('give a text or a fault, whatever they are, and touch nothing', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const field = fc.array(
      fc.constantFrom('{', '}', '[', ']', '.', ':', '!', 'a', 'b', '0', '__proto__', 'constructor', ' '),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          tricky,
          field.map((parts) => parts.join('')),
        ),
        fc.dictionary(fc.constantFrom('a', 'b'), value),
        (text, variables) => {
          const before = JSON.stringify(variables)
          try {
            expect(typeof fill(text, variables)).toBe('string')
          } catch (error) {
            expect(error).toBeInstanceOf(TemplateError)
          }
          expect(JSON.stringify(variables)).toBe(before)
        },
      ),
      { numRuns: runs(1000, 20_000) },
    )
  })

  it('reach nothing but what the variables themselves hold', () => {
    const inherited = fc.constantFrom(
      ...Object.getOwnPropertyNames(Object.prototype),
      'length',
      'at',
      'rawJSON',
      '-1',
      '1.0',
    )
    const holder = fc.constantFrom<unknown>({}, [], 'text', 3, null, true, [1], { x: 1 }, JSON.parse('{"x":1}'))
    fc.assert(
      fc.property(inherited, holder, fc.boolean(), (key, value, dotted) => {
        // A text that is no name is no field either.
        if (/^\w*[a-z]/i.test(key)) expect(() => fill(`{${key}}`, { value })).toThrow(TemplateError)
        else expect(fill(`{${key}}`, { value })).toBe(`{${key}}`)
        expect(() => fill(dotted ? `{value.${key}}` : `{value[${key}]}`, { value })).toThrow(TemplateError)
      }),
    )
    const own = JSON.parse('{"__proto__":{"a":1},"constructor":"mine"}') as Record<string, unknown>
    expect(fill('{__proto__.a} {constructor}', own)).toBe('1 mine')
  })

  it('of users keep every brace but those around names of variables', () => {
    const own = fc.array(fc.oneof(tricky, fc.constantFrom('{"k": ', '{ ', '}', ' {x}', '{{ y }}', '{name}')), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(own, (parts) => {
        // An odd brace, so that the whole is no template.
        const text = `${parts.join('')} } {name}`
        const [message] = fillMessages([{ role: 'user', content: text }], { name: 'Ann' }, 1_000_000, () => 'user')
        const filled = (message as { content: string }).content
        expect(filled.replaceAll('Ann', '{name}').replaceAll(/\{\{[^{}]*\}\}/g, '')).toBe(
          text.replaceAll(/\{\{[^{}]*\}\}/g, '').replaceAll(/\{name(?:![rsa])?\}/g, '{name}'),
        )
        expect(filled.endsWith('} Ann')).toBe(true)
      }),
    )
  })

  it('leave messages of the assistant and everything that is no text alone', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const assistant = { role: 'assistant', content: '{missing}', value }
        const user = {
          role: 'user',
          nested: { content: '{missing}', value },
          number: 1,
          list: ['{missing}', [{ x: '{missing}' }]],
        }
        expect(fillMessages([assistant, user, '{missing}', 3], { a: 1 }, 1_000)).toEqual([
          assistant,
          user,
          '{missing}',
          3,
        ])
      }),
    )
  })

  it('do not grow beyond their bound', () => {
    expect(() =>
      fillMessages([{ role: 'user', content: '{a}'.repeat(1_000) }], { a: 'x'.repeat(1_000) }, 999_999),
    ).toThrow(TemplateError)
  })
})

describe('addresses', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const inside = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127, 224, 240, 255), octet, octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
  )
  type Quad = [number, number, number, number]
  const toNumber = ([a, b, c, d]: Quad) => ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (n: number, digits = 0) => n.toString(16).padStart(digits, '0')
  const notations: ((quad: Quad) => string)[] = [
    (quad) => quad.join('.'),
    (quad) => `${quad.join('.')}.`,
    (quad) => String(toNumber(quad)),
    (quad) => `0x${hex(toNumber(quad))}`,
    (quad) => `0${toNumber(quad).toString(8)}`,
    (quad) => quad.map((part) => `0x${hex(part)}`).join('.'),
    (quad) => quad.map((part) => `0${part.toString(8)}`).join('.'),
    ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
    ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
    (quad) => `[::ffff:${quad.join('.')}]`,
    ([a, b, c, d]) => `[::ffff:${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
    (quad) => `[::${quad.join('.')}]`,
    ([a, b, c, d]) => `[64:ff9b::${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
    ([a, b, c, d]) => `[2002:${hex(a * 256 + b)}:${hex(c * 256 + d)}::1]`,
    (quad) => quad.join('.').replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    (quad) => quad.map((part) => `%${hex(String(part).charCodeAt(0), 2)}${String(part).slice(1)}`).join('.'),
  ]

  it('inside are refused in every notation, with every decoration', () => {
    const decoration = fc.tuple(
      fc.constantFrom('http', 'HTTPS'),
      fc.constantFrom('', 'user@', 'a:b@'),
      fc.constantFrom('', ':8080'),
    )
    fc.assert(
      fc.property(inside, fc.constantFrom(...notations), decoration, (quad, notation, [scheme, user, port]) => {
        const url = `${scheme}://${user}${notation(quad)}${port}/v1`
        expect(baseUrlFault(url, { allowPrivate: false }), url).not.toBeNull()
      }),
      { numRuns: runs(2000, 40_000) },
    )
    for (const host of [
      '[::1]',
      '[::]',
      '[fe80::1]',
      '[fd00::1]',
      '[ff02::1]',
      'LocalHost',
      'localhost.',
      'a.localhost',
      'localhost.example',
      'ip6-loopback',
    ])
      expect(baseUrlFault(`http://${host}/v1`, { allowPrivate: false }), host).not.toBeNull()
    for (const host of ['metadata.google.internal', 'METADATA.goog', 'x.metadata.azure.com', 'metadata.internal.'])
      for (const allowPrivate of [true, false])
        expect(baseUrlFault(`http://${host}/v1`, { allowPrivate }), host).not.toBeNull()
    for (const url of ['ftp://a.example', 'https://a.example?x', 'https://a.example/#x', 'https://', 'a.example', ''])
      expect(baseUrlFault(url, { allowPrivate: true }), url).not.toBeNull()
    for (const url of ['https://api.example/v1', 'http://8.8.8.8:1/v1', 'https://[2600::1]/v1'])
      expect(baseUrlFault(url, { allowPrivate: false }), url).toBeNull()
  })

  it('of names are checked one and all, and the checked ones are used', async () => {
    const outside = fc.tuple(fc.constantFrom(8, 34, 93), octet, octet, octet)
    const addresses = fc.tuple(fc.array(outside, { minLength: 1 }), fc.array(inside))
    await fc.assert(
      fc.asyncProperty(addresses, fc.boolean(), fc.nat(), async ([good, bad], all, seed) => {
        const found: LookupAddress[] = [...good, ...bad].map((quad) => ({ address: quad.join('.'), family: 4 }))
        found.unshift(...found.splice(seed % found.length))
        let asked = 0
        const lookup = createGuardedLookup({ allowPrivate: false }, (_name, _options, done) => {
          asked++
          done(null, found)
        })
        const answer = await new Promise<unknown>((resolve) => {
          lookup('name.example', { all }, (error, address) => resolve(error ?? address))
        })
        expect(asked).toBe(1)
        if (bad.length > 0) expect(answer).toBeInstanceOf(ForbiddenAddress)
        else expect(answer).toEqual(all ? found : found[0]?.address)
      }),
    )
  })
})
