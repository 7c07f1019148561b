// Rights that accesses allow together, whatever their scopes are called.
import { describe, expect, it } from 'vitest'
import { type Access, actionsOn, intersect, isWithin } from '../../services/core/directory/roles.ts'

const onEverything: Access = { '*': ['read', 'write'] }

describe('scopes with the names of members that every object has', () => {
  it.each(['__proto__', 'constructor', 'toString/valueOf'])('%s is a scope like any other', (scope) => {
    const wanted: Access = Object.fromEntries([[scope, ['read'] as const]])
    expect(isWithin(wanted, onEverything)).toBe(true)
    expect(isWithin(wanted, {})).toBe(false)
    expect(isWithin(wanted, { acme: ['read'] })).toBe(false)
    expect(isWithin(Object.fromEntries([[scope, ['delete'] as const]]), onEverything)).toBe(false)
    expect(Object.entries(intersect(wanted, onEverything))).toEqual([[scope, ['read']]])
    expect(actionsOn(wanted, scope)).toEqual(['read'])
    expect(actionsOn({}, scope)).toEqual([])
  })
})
