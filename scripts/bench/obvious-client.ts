// The client's own insert of row objects, as most programs would write it; used by the benchmark's reference only.
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { createChdbConnection } from 'chdb/connection'

export function createObviousClient(dir: string) {
  const client = createClient({
    connection: createChdbConnection({ path: join(dir, 'clickhouse') }),
  } as unknown as Parameters<typeof createClient>[0])
  return {
    insert: (values: Record<string, unknown>[]) =>
      client.insert({ table: 'callhouse.calls_in', values, format: 'JSONEachRow' }),
    async count(): Promise<number> {
      const result = await client.query({
        query: 'SELECT toUInt32(count()) AS n FROM callhouse.calls',
        format: 'JSONEachRow',
      })
      return ((await result.json()) as { n: number }[])[0]?.n ?? 0
    },
  }
}
