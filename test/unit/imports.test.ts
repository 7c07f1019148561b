// The import rules of folders, as `npm run check` applies them.
import { expect, it } from 'vitest'
import { folderCycles, importCycles, importsOf, roomFaults } from '../../scripts/imports.ts'

it('reads imports of every form, types included, as paths of the repository', () => {
  const text = `import { a } from './a.ts'
import type { B } from '../b.ts'
import {
  c,
  type D,
} from 'zod'
import './side-effect.ts'
export { e } from './e.ts'
const f = await import('./f.ts')
const text = "import nothing"
`
  expect(importsOf('services/core/x.ts', text).map(({ target }) => target)).toEqual([
    'services/core/a.ts',
    'services/b.ts',
    'zod',
    'services/core/side-effect.ts',
    'services/core/e.ts',
    'services/core/f.ts',
  ])
})

it.each([
  ['services/core/log/log.ts', 'services/core/clock/clock.ts', true],
  ['services/core/log/log.ts', 'services/events/calls.ts', false],
  ['services/core/log/log.ts', 'kafkajs', false],
  ['services/core/log/freshness.ts', 'services/core/errors.ts', true],
  ['services/core/log/freshness.ts', 'services/core/http/route.ts', false],
  ['services/core/log/kafka/producer.ts', 'services/core/http/errors.ts', false],
  ['services/core/store/chdb/pool.ts', 'services/core/http/errors.ts', false],
  ['services/core/store/server/client.ts', 'services/core/http/errors.ts', false],
  ['services/core/memory/heap-room.ts', 'services/core/threads/pool.ts', false],
  ['services/core/http/limits.ts', 'services/core/concurrency/shares.ts', true],
  ['services/core/grpc/server.ts', 'services/core/http/route.ts', true],
  ['services/core/log/kafka/client.ts', 'kafkajs', true],
  ['services/core/log/kafka/client.ts', 'node:net', true],
  ['services/ingest/calls/routes.ts', 'services/query/calls/routes.ts', false],
  ['services/query/language/parse.ts', 'services/query/calls/page.ts', false],
  ['services/operations/repair/repair.ts', 'services/worker/run.ts', true],
  ['services/worker/run.ts', 'services/operations/repair/repair.ts', false],
  ['services/worker/run.ts', 'services/derived/rollups/rollups.ts', true],
  ['services/derived/rollups/rollups.ts', 'services/worker/run.ts', false],
  ['services/removal/engine.ts', 'services/derived/budget.ts', true],
  ['services/worker/run.ts', 'services/removal/engine.ts', false],
  ['services/events/project-query.ts', 'services/tables/registry.ts', true],
  ['services/tables/calls.ts', 'services/events/calls.ts', false],
  ['schemas/calls.ts', 'zod', true],
  ['schemas/calls.ts', 'services/core/ids.ts', false],
  ['services/main.ts', 'services/cli/run.ts', true],
  ['services/web/page/calls/row.tsx', 'services/web/page/parts/icon.tsx', true],
  ['services/web/page/calls/row.tsx', 'react', true],
  ['services/web/page/calls/row.tsx', 'node:path', false],
  ['services/web/page/calls/row.tsx', 'services/core/ids.ts', false],
  ['services/web/page/engine/tree.ts', 'react', false],
  ['services/web/page/engine/tree.ts', 'services/web/page/parts/icon.tsx', false],
  ['services/web/page/parts/grid.tsx', 'services/web/page/engine/lists.ts', true],
  ['services/web/page/parts/grid.tsx', 'services/web/page/preferences.ts', true],
  ['services/web/page/parts/grid.tsx', 'services/web/page/calls/columns.ts', false],
  ['services/web/page/parts/grid.tsx', 'services/web/page/frame/frame.tsx', false],
  ['services/web/page/worker/main.ts', 'services/web/page/parts/grid.tsx', false],
  ['services/web/page/worker/client.ts', 'services/web/page/api/send.ts', true],
  ['services/web/page/api/session.ts', 'services/web/page/worker/client.ts', false],
  ['services/web/routes.ts', 'services/web/page/keys.ts', false],
  ['services/app/server.ts', 'services/web/page/keys.ts', false],
  ['services/main.ts', 'services/app/server.ts', false],
  ['test/unit/imports.test.ts', 'services/main.ts', true],
])('%s importing %s is allowed: %s', (from, target, isAllowed) => {
  expect(roomFaults([{ from, target }])).toHaveLength(isAllowed ? 0 : 1)
})

it('names a cycle once, with the files of it', () => {
  const chain = (...files: string[]) => files.slice(1).map((target, i) => ({ from: files[i] as string, target }))
  expect(importCycles(chain('a', 'b', 'c'))).toEqual([])
  expect(importCycles([...chain('a', 'b', 'c', 'b'), ...chain('d', 'c')])).toEqual(['imports go round: b -> c -> b'])
})

it('names folders of the page that import each other, once', () => {
  const imported = (a: string, b: string) => ({ from: `services/web/page/${a}`, target: `services/web/page/${b}` })
  const oneWay = [imported('threads/thread.tsx', 'traces/reader.tsx'), imported('worker/client.ts', 'api/send.ts')]
  expect(folderCycles([...oneWay, imported('worker/main.ts', 'api/lines.ts')])).toEqual([])
  expect(folderCycles([...oneWay, imported('traces/trace.tsx', 'threads/turn.tsx')])).toEqual([
    expect.stringMatching(/^services\/web\/page\/threads and services\/web\/page\/traces import each other/),
  ])
})

it('names folders that import each other by what is in them, but not a folder and one inside of it', () => {
  const imported = (a: string, b: string) => ({ from: `services/${a}.ts`, target: `services/${b}.ts` })
  const calls = imported('query/calls/conditions/joins', 'query/costs/prices')
  const inside = [
    imported('query/calls/routes', 'query/calls/access/counts'),
    imported('query/calls/access/counts', 'query/calls/page'),
  ]
  const packages = [{ from: 'services/main.ts', target: 'node:fs/promises' }]
  expect(folderCycles([calls, ...inside, ...packages])).toEqual([])
  expect(folderCycles([calls, imported('query/costs/explain', 'query/calls/page')])).toEqual([
    'services/query/calls and services/query/costs import each other: services/query/calls/conditions/joins.ts, services/query/costs/explain.ts',
  ])
  expect(folderCycles([imported('core/a', 'events/b/c'), imported('events/d', 'core/e/f')])).toHaveLength(1)
})

it('names folders of the worker that import each other', () => {
  const of = (from: string, target: string) => ({ from: `services/worker/${from}.ts`, target: `services/${target}.ts` })
  const one = [of('run', 'worker/calls/spans'), of('calls/spans', 'derived/budget')]
  expect(folderCycles(one)).toEqual([])
  expect(folderCycles([...one, of('calls/rows', 'worker/views')])).toEqual([
    'services/worker and services/worker/calls import each other: services/worker/run.ts, services/worker/calls/rows.ts',
  ])
})
