// `npm run demo [key]`: sends realistic traces to a running server through real clients, reads them back and counts.
import { sendEvaluations } from './demo/evaluations.ts'
import { giveFeedback } from './demo/feedback.ts'
import { sendQueue } from './demo/queue.ts'
import { askServer, checkServer, type DemoTarget, runningServer } from './demo/server.ts'
import { sendSpans } from './demo/spans.ts'
import { traceWithSdk } from './demo/weave.ts'

const usage = `usage: npm run demo <key> [<url> [<entity>/<project>]]

  key      or CALLHOUSE_DEMO_KEY; the server prints its first key once, 'callhouse keys create' creates more
  url      or CALLHOUSE_DEMO_URL; default the server of the data folder (CALLHOUSE_DATA_DIR), else of CALLHOUSE_PORT
  project  default acme/demo
`

class DemoError extends Error {}

async function target(): Promise<DemoTarget> {
  const [key, url, project] = process.argv.slice(2)
  if (key === '--help' || key === '-h') throw new DemoError(usage)
  const { CALLHOUSE_DEMO_KEY, CALLHOUSE_DEMO_URL } = process.env
  const given = key || CALLHOUSE_DEMO_KEY
  if (!given) throw new DemoError(`The demo needs a key.\n\n${usage}`)
  return {
    key: given,
    url: (url || CALLHOUSE_DEMO_URL || (await runningServer(process.env))).replace(/\/+$/, ''),
    project: project || 'acme/demo',
  }
}

type Counted = { trace_id: string; exception: string | null; op_name: string }

async function run(): Promise<void> {
  const server = await target()
  const refused = await checkServer(server)
  if (refused !== undefined) throw new DemoError(refused)
  const before = await askServer<{ count: number }>(server, '/calls/query_stats', { project_id: server.project })
  const spans = await sendSpans(server)
  const sdk = await traceWithSdk(server)
  const judgements = await giveFeedback(server)
  const evaluated = await sendEvaluations(server)
  const annotations = await sendQueue(server)
  const project_id = server.project
  const calls = await askServer<Counted>(server, '/calls/stream_query', {
    project_id,
    columns: ['trace_id', 'exception', 'op_name'],
  })
  const threads = await askServer<{ turn_count: number }>(server, '/threads/stream_query', { project_id })
  const rows: [string, number | string][] = [
    ['sent through OpenTelemetry', spans],
    ['sent through the Weave SDK', sdk],
    ['sent as evaluation runs', evaluated],
    ['feedback', judgements],
    ['annotations of a queue', annotations],
    ['calls before', before[0]?.count ?? 0],
    ['calls', calls.length],
    ['traces', new Set(calls.map((call) => call.trace_id)).size],
    ['errors', calls.filter((call) => call.exception !== null).length],
    ['threads', threads.length],
    ['turns', threads.reduce((sum, thread) => sum + thread.turn_count, 0)],
  ]
  const width = Math.max(...rows.map(([label]) => label.length))
  process.stdout.write(`\n${project_id} at ${server.url}\n`)
  for (const [label, value] of rows) process.stdout.write(`  ${label.padEnd(width)}  ${String(value).padStart(6)}\n`)
}

try {
  await run()
  // Clients keep timers and connections; everything is sent and read by now.
  process.exit(0)
} catch (error) {
  process.stderr.write(`${error instanceof DemoError ? error.message : `demo: ${String(error)}`}\n`)
  process.exit(error instanceof DemoError ? 2 : 1)
}
