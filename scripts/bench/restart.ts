// `npm run bench restart`: from the start of the process to its first answers, over a folder with many calls.
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createClient, median, type Post, startServer } from './process.ts'
import { filledFolder, project } from './reads.ts'

const main = fileURLToPath(new URL('../../services/main.ts', import.meta.url))

async function answerOf(send: Post, path: string, body: object): Promise<Buffer> {
  const answer = await send(path, JSON.stringify({ project_id: project, ...body }))
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.body.toString()}`)
  return answer.body
}

/** Finished calls, appended and then cut off by a kill: what a start may have to apply again. */
async function write(send: Post, count: number): Promise<void> {
  const at = new Date().toISOString()
  const batch = Array.from({ length: count }, (_, n) => {
    const id = `${n.toString(16).padStart(8, '0')}-${Date.now().toString(16).slice(-4)}-7000-8000-000000000000`
    const texts = { attributes: {}, inputs: { text: 'x'.repeat(1000) }, output: 'y'.repeat(1000), summary: {} }
    return { project_id: 'bench/restart', id, trace_id: id, op_name: 'o', started_at: at, ended_at: at, ...texts }
  })
  await answerOf(send, '/v2/bench/restart/calls/complete', { batch })
}

/** @param keep folder that keeps the filled tables for another run */
export async function benchRestart(calls: number, repetitions: number, keep?: string): Promise<void> {
  const dir = await filledFolder(calls, keep)
  const env = {
    CALLHOUSE_PORT: '0',
    CALLHOUSE_DATA_DIR: dir,
    CALLHOUSE_KEYS: 'bench:bench-key',
    CALLHOUSE_LOG_LEVEL: 'warn',
    CALLHOUSE_MIN_FREE_BYTES: '0',
  }
  process.stdout.write(
    '| start after | listens ms | first list ms | first count ms | resident MB |\n|---|---|---|---|---|\n',
  )
  for (const after of ['SIGTERM', 'SIGKILL'] as const) {
    const times: { listens: number[]; list: number[]; count: number[] } = { listens: [], list: [], count: [] }
    let residentMb = 0
    // The first start is not counted: it follows the fill.
    for (let n = 0; n <= repetitions; n++) {
      const began = performance.now()
      const server = await startServer(main, ['serve'], env)
      const listens = performance.now() - began
      const send = createClient(server.port, 4)
      await answerOf(send, '/calls/stream_query', { limit: 50, sort_by: [{ field: 'started_at', direction: 'desc' }] })
      const list = performance.now() - began
      const { count } = JSON.parse((await answerOf(send, '/calls/query_stats', {})).toString()) as { count: number }
      if (count < calls / 2) throw new Error(`${count} of ${calls / 2} calls are there`)
      if (n > 0) {
        times.listens.push(listens)
        times.list.push(list)
        times.count.push(performance.now() - began)
      }
      residentMb = server.residentMb()
      if (after === 'SIGKILL') {
        await write(send, 5_000)
        server.child.removeAllListeners('exit')
        const ended = new Promise((resolve) => server.child.once('exit', resolve))
        server.child.kill('SIGKILL')
        await ended
      } else await server.stop()
    }
    const figures = [times.listens, times.list, times.count].map((values) => median(values).toFixed(0))
    process.stdout.write(`| ${after} | ${figures.join(' | ')} | ${residentMb.toFixed(0)} |\n`)
  }
  if (keep === undefined) rmSync(dir, { recursive: true, force: true })
}
