// Whether an address lies within one that a secret is bound to, and who may use the secret.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openProviders } from '../../services/inference/providers.ts'
import { bindings, isAllowed, isBelowAddress } from '../../services/inference/secret-bindings.ts'

describe('an address', () => {
  const bound = 'https://api.example/tenants/a'
  it.each([
    'https://api.example/tenants/a',
    'HTTPS://API.EXAMPLE:443/tenants/a/',
    'https://user:pass@api.example/tenants/a',
    'https://api.example/tenants/./b/../a',
    'https://api.example/tenants/a/v1/eu.west-1/~x@y:z',
    'https://ＡＰＩ.example/tenants/a',
  ])('%s lies within the bound one', (address) => expect(isBelowAddress(bound, address)).toBe(true))

  it.each([
    'http://api.example/tenants/a',
    'https://api.example:8443/tenants/a',
    'https://api.example./tenants/a',
    'https://api.example.evil.test/tenants/a',
    'https://evil.test\\@api.example/tenants/a',
    'https://api.example@evil.test/tenants/a',
    'https://api.example%40evil.test/tenants/a',
    'https://аpi.example/tenants/a', // a Cyrillic letter
    'https://api。example.test/tenants/a',
    'https://api.example',
    'https://api.example/tenants',
    'https://api.example/tenants/ab',
    'https://api.example/Tenants/a',
    'https://api.example/tenants/a/../b',
    'https://api.example/tenants/a/%2e%2e/b',
    'https://api.example/tenants/a/%2e%2e%2fb',
    'https://api.example/tenants/a/..%2fb',
    'https://api.example/tenants/a/..%5cb',
    'https://api.example/tenants/a/..\\b',
    'https://api.example/tenants/a/%252e%252e/b',
    'https://api.example/tenants/a/..;/b',
    'https://api.example/tenants/a//b',
    'https://api.example//tenants/a',
    'not an address',
  ])('%s does not', (address) => expect(isBelowAddress(bound, address)).toBe(false))

  it('lies anywhere within a bound origin', () => {
    expect(isBelowAddress('https://api.example', 'https://api.example/any/path')).toBe(true)
    expect(isBelowAddress('https://api.example/', 'https://api.example:444/')).toBe(false)
  })
})

describe('a secret', () => {
  const address = 'https://api.example/v1'
  const use = (projectId: string, isOfProject?: true) => ({ projectId, address, ...(isOfProject && { isOfProject }) })

  it('without a binding serves the providers of the operator alone', () => {
    expect(isAllowed(undefined, use('a/b'))).toBe(true)
    expect(isAllowed(undefined, use('a/b', true))).toBe(false)
  })

  it('with origins goes to those alone, whoever named the address', () => {
    const bound = { projects: '*' as const, origins: [address] }
    expect([isAllowed(bound, use('a/b')), isAllowed(bound, use('a/b', true))]).toEqual([true, true])
    expect(isAllowed(bound, { projectId: 'a/b', address: 'https://other.example' })).toBe(false)
    expect(isAllowed({ projects: '*' }, use('a/b', true))).toBe(false)
  })

  it('serves its projects and entities, and none that only look like them', () => {
    const bound = { projects: ['acme', 'other/app'] }
    for (const projectId of ['acme/x', 'acme/app', 'other/app']) expect(isAllowed(bound, use(projectId))).toBe(true)
    for (const projectId of ['acme2/x', 'Acme/x', 'other/app2', 'other/x', 'app/acme', '__proto__/x'])
      expect(isAllowed(bound, use(projectId)), projectId).toBe(false)
  })
})

it.each<[object, RegExp]>([
  [{ A: {} }, /A\.projects|must be a list/],
  [{ A: { projects: [] } }, /must be a list|>=1/],
  [{ A: { projects: ['a/b/c'] } }, /must be/],
  [{ A: { projects: '*', origins: ['ftp://x'] } }, /http or https/],
  [{ A: { projects: '*', origins: ['https://x?y'] } }, /without user, query/],
  [{ A: { projects: '*', origins: ['https://u@x'] } }, /without user, query/],
  [{ A: { projects: '*', origins: [] } }, /origins|>=1/],
  [{ A: { projects: '*', origin: [] } }, /Unrecognized key/],
  [{ 'a-b': { projects: '*' } }, /name of a secret/],
])('a binding %j is refused with its reason', (wrong, reason) => {
  expect(JSON.stringify(bindings.safeParse(wrong).error?.issues)).toMatch(reason)
})

describe('the providers file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callhouse-providers-'))
  const file = join(folder, 'providers.json')
  afterAll(() => rmSync(folder, { recursive: true }))
  const open = (content: unknown) => {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    return openProviders({ file }).current()
  }
  const house = { base_url: 'https://house.example/v1', api_key_name: 'HOUSE_KEY' }
  const bound = { HOUSE_KEY: { projects: ['acme'], origins: ['https://other.example'] } }

  it.each<[unknown, string]>([
    ['{', 'not JSON'],
    [{ secrets: { HOUSE_KEY: {} } }, 'secrets.HOUSE_KEY.projects must be a list of entities and projects, or "*"'],
    [{ secrets: { HOUSE_KEY: { projects: '*', hosts: [] } } }, 'secrets.HOUSE_KEY Unrecognized key: "hosts"'],
    [
      { providers: { house }, secrets: bound },
      'providers.house is at https://house.example/v1, which is not among secrets.HOUSE_KEY.origins',
    ],
    [
      { models: { m: { provider: 'openai', api_key_name: 'HOUSE_KEY' } }, secrets: bound },
      'models.m is at https://api.openai.com/v1, which is not among secrets.HOUSE_KEY.origins',
    ],
    [{ models: { m: 'nobody' } }, 'models.m has an unknown provider: nobody'],
    [{ providers: { house: { base_url: 'https://u:p@x' } } }, 'providers.house.base_url must be an http or https'],
  ])('%j is refused with a line that says where', (content, line) => {
    expect(() => open(content)).toThrow(`${file}: ${line}`)
  })

  it('says whom a secret is bound to, and which secrets anyone uses', () => {
    const { binding, secretNames } = open({ providers: { house }, secrets: { TEAM_KEY: { projects: '*' } } })
    expect([binding('TEAM_KEY'), binding('HOUSE_KEY'), binding('__proto__')]).toEqual([
      { projects: '*' },
      undefined,
      undefined,
    ])
    expect([...secretNames()]).toEqual(expect.arrayContaining(['TEAM_KEY', 'HOUSE_KEY', 'OPENAI_API_KEY']))
    expect(secretNames().has('OTHER_KEY')).toBe(false)
  })
})
