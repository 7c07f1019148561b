// The output of `npm run paths` for a route, and the names in every declaration.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { declaration, declaredRoutes, describeRoute } from '../../scripts/paths.ts'
import { topics } from '../../services/events/registry.ts'
import { tables } from '../../services/tables/registry.ts'

const routes = declaredRoutes()
const routeOf = (name: string) => {
  const found = routes.find((route) => route.name === name)
  if (!found) throw new Error(`no route ${name}`)
  return found
}
const described = (name: string) => describeRoute(routeOf(name), routes).join('\n')

describe('what a walk shows', () => {
  it('leads from the start of a call to its readers', () => {
    const text = described('calls.start')
    expect(text).toContain('POST /call/start')
    expect(text).toContain('services/ingest/calls/routes.ts:')
    expect(text).toContain('startSchema (schemas/calls.ts)')
    expect(text).toContain('topic calls -> calls_in')
    expect(text).toContain('calls_in -> view calls_in_to_calls -> calls')
    expect(text).toContain('calls -> view calls_to_turns -> turns')
    expect(text).toContain('clickhouse/statements/calls-merge-fragments.sql -> calls_folded')
    expect(text).toMatch(/^ {6}calls -> .*\bcalls\.read, calls\.stream_query\b/m)
    expect(text).toMatch(/^ {6}turns -> threads\.stream_query$/m)
  })

  it('shows a route that takes bytes', () => {
    const text = described('otel.traces')
    expect(text).toContain('POST /otel/v1/traces')
    expect(text).toContain('body    bytes: application/x-protobuf, application/json')
    expect(text).toContain('topic files -> files_in')
  })

  it('shows from where a reader’s tables are filled', () => {
    const text = described('calls.stream_query')
    expect(text).toContain('callsQueryRequest (schemas/calls-read.ts)')
    expect(text).toContain('call_keys <- view calls_to_keys')
    expect(text).toContain(
      'calls <- view calls_in_to_calls, view finished_calls_in_to_calls, view unbilled_calls_in_to_calls, view begun_calls_in_to_calls, view unbilled_begun_calls_in_to_calls, clickhouse/statements/calls-insert-merged.sql',
    )
  })

  it('runs as a command', async () => {
    const program = fileURLToPath(new URL('../../scripts/paths.ts', import.meta.url))
    const run = (...args: string[]) => promisify(execFile)(process.execPath, [program, ...args])
    const { stdout } = await run()
    expect(stdout.trim().split('\n')).toHaveLength(routes.length)
    expect((await run('files.create')).stdout).toContain('files_in -> view files_in_to_files -> files')
    await expect(run('nothing.at_all')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('no route') })
  })
})

describe('the declaration of a route', () => {
  it.each(routes.map((route) => [route.name, route] as const))(
    'names known topics and tables, and lies in a service: %s',
    (_, route) => {
      const known = new Set(tables.map(({ name }) => name))
      expect(declaration(route).place).toMatch(
        /^services\/(access|ingest|query|evaluation|inference|training-jobs|web)\//,
      )
      for (const topic of route.topics ?? []) expect(Object.keys(topics)).toContain(topic)
      for (const table of route.tables ?? []) expect(known).toContain(table)
      if (/ingest|annotate|write|delete/.test(JSON.stringify(route.right))) expect(route.topics).not.toBeUndefined()
      if (route.right === 'read') expect(route.tables).not.toBeUndefined()
    },
  )
  // The edge never reads, but the object that an annotation has to fit, the queue that it is for, what is held of the calls
  // whose feedback is replaced, and the class that a name is bound to.
  it('names no table in services/ingest, but for objects and feedback', () => {
    for (const route of routes.filter((one) => declaration(one).place.startsWith('services/ingest/'))) {
      const held = route.name === 'feedback.replace' ? ['feedback', 'calls', 'call_keys', 'call_patches'] : []
      const forFeedback = route.name.startsWith('feedback.')
        ? ['objects', 'object_events', 'annotation_queues', ...held]
        : undefined
      expect(route.tables, route.name).toEqual(route.name === 'objects.create' ? ['object_events'] : forFeedback)
    }
  })
})
