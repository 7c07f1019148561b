// The access path of conditions that no call can meet.
import type { AccessPathOf } from './access-path.ts'

export const noCalls: AccessPathOf = ({ reader }) => ({
  name: 'no calls',
  estimate: async () => (reader.query.facts.nothing ? 0 : null),
  async *candidates() {},
})
