// Numbers and names of migrations, as `npm run check` looks at them.
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { migrationFaults } from '../../scripts/migration-numbers.ts'

it('the migrations that are shipped have each number once and none missing', () => {
  expect(migrationFaults(readdirSync(new URL('../../clickhouse/migrations/', import.meta.url)))).toEqual([])
})

it.each<[string[], string[]]>([
  [[], []],
  [['0001_a.sql', '0002_b.sql'], []],
  [
    ['0001_a.sql', '0001_b.sql', '0003_c.sql'],
    ['migration number 0001 is there twice: 0001_a.sql, 0001_b.sql', 'migration number 0002 is missing'],
  ],
  [['0001_a.sql', '0002_a.sql'], ['migration name a is there twice: 0001_a.sql, 0002_a.sql']],
  [
    ['0001_a.sql', '2_b.sql', '0002_b.embedded.sql'],
    ['2_b.sql must be called NNNN_name.sql', '0002_b.embedded.sql must be called NNNN_name.sql'],
  ],
])('of %j it says %j', (files, faults) => {
  expect(migrationFaults(files)).toEqual(faults)
})
