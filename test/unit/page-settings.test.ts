// What the page says of rights, beside the table of the server.
import { expect, it } from 'vitest'
import { actionsOf, roles as roleNames } from '../../services/core/directory/roles.ts'
import { actionsOfRole, contains, roleOf, roles } from '../../services/web/page/settings/rights.ts'

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
