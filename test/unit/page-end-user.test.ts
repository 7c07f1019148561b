// The end user in the head of a call, with the filter that finds the calls of the same user.
import { expect, it } from 'vitest'
import { endUserOf } from '../../services/web/page/engine/end-user.ts'
import { parseQuery } from '../../services/web/page/engine/query-text.ts'

it.each(['noor', 'noor rahman', '42', 'true', 'a"b\\c', 42])('is %j, and found by a filter', (end_user) => {
  const found = endUserOf({ attributes: { end_user }, wb_user_id: 'owner' })
  expect(found?.name).toBe(String(end_user))
  expect(parseQuery(found?.term ?? '')).toMatchObject([[{ type: 'cond', field: 'end_user', values: [end_user] }]])
})

it.each([{}, { attributes: null }, { attributes: 'noor' }, { attributes: { end_user: '' } }])(
  'is none where the call names none: %j',
  (record) => {
    expect(endUserOf({ ...record, wb_user_id: 'owner' })).toBeUndefined()
  },
)

it('takes neither an object nor what every object has for a name', () => {
  for (const attributes of [{ end_user: { id: 1 } }, { end_user: true }, JSON.parse('{"__proto__":{"end_user":"x"}}')])
    expect(endUserOf({ attributes })).toBeUndefined()
})
