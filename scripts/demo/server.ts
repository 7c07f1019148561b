// The server that the demo talks to: where it runs, whether it takes the key, and questions in JSON Lines.
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../../services/app/config.ts'
import { askOverSocket } from '../../services/core/process/control-socket.ts'

/** Requests to a busy server before the demo gives up. */
const maxTries = 30

export type DemoTarget = { url: string; key: string; project: string }

export const authorization = ({ key }: DemoTarget): string => `Basic ${Buffer.from(`api:${key}`).toString('base64')}`

/** A server that listens everywhere is reached from here by the machine itself. */
const reachable = (url: string): string => url.replace(/^(https?:\/\/)(?:0\.0\.0\.0|\[?::\]?)(?=:\d+$)/, '$1127.0.0.1')

/** The server that holds the data folder of these settings, else the one that they would start. */
export async function runningServer(env: NodeJS.ProcessEnv): Promise<string> {
  const loaded = loadConfig({ env, argv: [] })
  // A start would report wrong settings; the demo uses the others.
  const { dataDir, host, port } = loaded.ok ? loaded.config : { dataDir: '.callhouse', host: '127.0.0.1', port: 6400 }
  const reply = await askOverSocket(dataDir, { command: 'address', args: [] }).catch(() => undefined)
  return reachable(reply?.ok && typeof reply.result === 'string' ? reply.result : `http://${host}:${port}`)
}

/** POSTs JSON; a busy server is asked again after the time that it gives. */
async function post(target: DemoTarget, path: string, body: unknown, tries = maxTries): Promise<Response> {
  const answer = await fetch(target.url + path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: authorization(target), 'content-type': 'application/json' },
  })
  const waitSeconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
  if (answer.status !== 503 || Number.isNaN(waitSeconds) || tries <= 1) return answer
  await answer.body?.cancel()
  await sleep(waitSeconds * 1000)
  return post(target, path, body, tries - 1)
}

/** The reason why the demo cannot begin, in words for a reader; undefined when it can. */
export async function checkServer(target: DemoTarget): Promise<string | undefined> {
  const health = await fetch(`${target.url}/health`).catch(() => undefined)
  if (!health)
    return `No server answers at ${target.url}. Start one with npm start, or give its address: npm run demo <key> <url>`
  if (health.status === 404) return `What answers at ${target.url} is not Callhouse.`
  const answer = await post(target, '/calls/query_stats', { project_id: target.project }).catch(() => undefined)
  if (!answer) return `The server at ${target.url} stopped answering.`
  if (answer.ok) return undefined
  const text = await answer.text()
  if (answer.status === 401)
    return `The server at ${target.url} does not know this key. Create one with: npx callhouse keys create demo`
  if (answer.status === 403) return `The key may not use the project ${target.project}: ${text}`
  return `The server at ${target.url} answered ${answer.status}: ${text}`
}

/** POSTs JSON and returns the values of the answer's lines. */
export async function askServer<T>(target: DemoTarget, path: string, body: unknown): Promise<T[]> {
  const answer = await post(target, path, body)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}
