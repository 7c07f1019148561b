// An erasure that breaks off before the log was written again must find the same calls at the next try.
import { expect, test } from 'vitest'
import { unlimited } from '../../services/derived/budget.ts'
import { createRowRemoval } from '../../services/removal/rows.ts'

test('rows by which deleted calls are found stay until the rest is gone', async () => {
  const changed: string[] = []
  const removal = createRowRemoval({
    store: {
      rows: async <Row>({ name }: { name: string }) =>
        (name === 'erasure.months' ? [{ month: '1', n: '1' }] : []) as Row[],
      command: async ({ sql }) => void changed.push(/DELETE FROM callhouse\.(\w+)/.exec(sql)?.[1] ?? sql),
    },
    budget: unlimited,
    betweenDerivations: (job) => job(),
    recount: async () => {},
  })
  await removal.removeParts('p', ['a'])
  expect(changed).toContain('payloads')
  expect(changed).not.toContain('calls')
  expect(changed).not.toContain('call_patches')
  changed.length = 0
  await removal.removeCalls('p', ['a'])
  expect(changed).toEqual(['call_patches', 'calls'])
})
