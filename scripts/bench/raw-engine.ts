// A bare session on the engine, for the benchmark's reference inserts only.
import { join } from 'node:path'
import { Session } from 'chdb'

export function openRawEngine(dir: string): { run(sql: string): Promise<void> } {
  const session = new Session(join(dir, 'clickhouse'))
  return {
    async run(sql) {
      await session.queryAsync(sql)
    },
  }
}
