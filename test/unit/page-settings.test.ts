// Rights in the page, beside the table of the server; what a change of retention hides.
import { describe, expect, it } from 'vitest'
import { actionsOf, roles as roleNames } from '../../services/core/directory/roles.ts'
import { type AskedDays, daysAfter, type KeptDays, newlyHidden } from '../../services/web/page/engine/retention-days.ts'
import { actionsOfRole, contains, fitting, lackingOf, roleOf, roles } from '../../services/web/page/settings/rights.ts'

it('the page names the roles of the server with the same actions', () => {
  expect(roles).toEqual(roleNames)
  for (const role of roles) expect([role, actionsOfRole[role]]).toEqual([role, actionsOf(role, '*')])
})

it('actions are told by their role, whatever their order, and whether they count on everything or not', () => {
  for (const role of roles) {
    expect(roleOf([...actionsOfRole[role]].reverse())).toBe(role)
    expect(roleOf(actionsOf(role, 'acme'))).toBe(role)
  }
  expect(roleOf(['read', 'infer'])).toBeUndefined()
  expect(roleOf([])).toBeUndefined()
})

it('a scope lies in itself, in its entity and in everything, and not in what merely begins like it', () => {
  expect([contains('acme', 'acme/app'), contains('*', 'acme'), contains('acme/app', 'acme/app')]).toEqual([
    true,
    true,
    true,
  ])
  expect([contains('acm', 'acme/app'), contains('acme/app', 'acme')]).toEqual([false, false])
})

it('a key of a user begins with what the roles of the user hold on its scopes, else with the scope that they are on', () => {
  const grants = [
    { scope: 'acme/demo', role: 'reader' },
    { scope: 'beta', role: 'writer' },
  ] as const
  const rolesOf = (...scopes: string[]) => {
    const found = fitting(grants, scopes)
    return [roleOf(found.held), ...found.scopes]
  }
  expect(rolesOf('acme/demo')).toEqual(['reader', 'acme/demo'])
  expect(rolesOf('beta/app')).toEqual(['writer', 'beta/app'])
  expect(rolesOf('acme/demo', 'beta/app')).toEqual(['reader', 'acme/demo', 'beta/app'])
  expect([rolesOf('acme'), rolesOf()]).toEqual([
    ['reader', 'acme/demo'],
    ['reader', 'acme/demo'],
  ])
  expect(fitting([], ['acme'])).toEqual({ held: [], scopes: ['acme'] })
})

it('actions that a key could not do are shown with the roles that lack them', () => {
  const grants = [{ scope: 'acme/demo', role: 'reader' }] as const
  expect(lackingOf(grants, ['read'], ['acme/demo'])).toBeUndefined()
  expect(lackingOf(grants, ['read', 'ingest'], ['acme/demo'])).toEqual({
    scope: 'acme/demo',
    lacking: ['ingest'],
    roles: ['reader'],
  })
  expect(lackingOf(grants, ['read'], ['acme/demo', 'acme'])).toEqual({ scope: 'acme', lacking: ['read'], roles: [] })
})

describe('a change of retention', () => {
  const now = (calls_days: number | null, payloads_days = calls_days) => ({ calls_days, payloads_days })
  const hides = (asked: AskedDays, before: KeptDays, ofServer: number | null) =>
    newlyHidden(daysAfter(asked, { calls_days: ofServer }), before)

  it('hides what the days of the server hide, where these are fewer', () => {
    expect(hides({}, now(365), 30)).toEqual({ calls: 30 })
    expect(hides({}, now(null), 30)).toEqual({ calls: 30 })
    expect(hides({}, now(30), 30)).toEqual({})
    expect(hides({}, now(7), 30)).toEqual({})
    expect(hides({}, now(30), null)).toEqual({})
  })

  it('hides calls and payloads by their own days, and payloads with their calls', () => {
    expect(hides({ calls_days: 10 }, now(30), null)).toEqual({ calls: 10 })
    expect(hides({ calls_days: 10, payloads_days: 5 }, now(30), null)).toEqual({ calls: 10, payloads: 5 })
    expect(hides({ payloads_days: 5 }, now(30), 30)).toEqual({ payloads: 5 })
    // Payloads that had more days than others have now.
    expect(hides({ calls_days: null }, now(30, 7), 30)).toEqual({})
    expect(hides({ calls_days: 60, payloads_days: 5 }, now(60, 7), 30)).toEqual({ payloads: 5 })
  })
})
