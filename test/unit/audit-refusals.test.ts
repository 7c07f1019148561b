// Refusals in the audit log.
import { describe, expect, it } from 'vitest'
import { createAudit } from '../../services/core/audit/audit.ts'
import type { SealedEvent } from '../../services/core/audit/chain.ts'
import { fault } from '../../services/core/http/errors.ts'
import { createRefusals } from '../../services/core/http/refusals.ts'

const by = (address = '192.0.2.77', keyId?: string) => ({
  requestId: 'r1',
  userId: 'ann',
  keyId,
  address: () => address,
})
function world() {
  const stored: SealedEvent[] = []
  const audit = createAudit({ sink: async (events) => void stored.push(...events), kind: 'server' })
  const lost: Error[] = []
  const codes: string[] = []
  return {
    stored,
    lost,
    codes,
    refusals: createRefusals(audit, { onRefused: (code) => codes.push(code), onLost: (error) => lost.push(error) }),
  }
}

describe('refusals', () => {
  it('are summed by code, key and network', async () => {
    const { stored, codes, refusals } = world()
    const unknown = fault(401, 'no', { code: 'key_unknown' })
    for (let n = 0; n < 50; n++) refusals.onFault(unknown, by(`192.0.2.${n}`))
    for (let n = 0; n < 3; n++) refusals.onFault(unknown, by(`2001:db8:7::${n}`))
    refusals.onFault(unknown, by('2001:db8:8:1:2:3:4:5'))
    refusals.onFault(fault(403, 'no'), by('192.0.2.1', 'k1'))
    refusals.onFault(fault(404, 'no'), by())
    refusals.onFault(new Error('no'), by())
    expect([codes.length, codes.at(0), codes.at(-1)]).toEqual([55, 'key_unknown', '403'])
    await refusals.close()
    expect(
      stored.map(({ action, outcome, key_id, address, details }) => [
        action,
        outcome,
        key_id,
        address,
        JSON.parse(details),
      ]),
    ).toEqual([
      ['auth.refused', 'refused', '', '192.0.2.0/24', { status: 401, code: 'key_unknown', count: 50 }],
      ['auth.refused', 'refused', '', '2001:db8:7::/48', { status: 401, code: 'key_unknown', count: 3 }],
      ['auth.refused', 'refused', '', '2001:db8:8::/48', { status: 401, code: 'key_unknown', count: 1 }],
      ['auth.refused', 'refused', 'k1', '192.0.2.0/24', { status: 403, code: '403', count: 1 }],
    ])
  })

  it('of more than a hundred kinds in a minute share an event', async () => {
    const { stored, refusals } = world()
    for (let n = 0; n < 250; n++) refusals.onFault(fault(403, 'no'), by('', `k${n}`))
    await refusals.close()
    expect(stored.length).toBe(101)
    expect(JSON.parse(stored.at(-1)?.details ?? '')).toEqual({ code: 'others', count: 150 })
  })
})
