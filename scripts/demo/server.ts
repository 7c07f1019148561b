// The server that the demo talks to: whether it is there and takes the key, and questions in JSON Lines.

export type DemoTarget = { url: string; key: string; project: string }

export const authorization = ({ key }: DemoTarget): string => `Basic ${Buffer.from(`api:${key}`).toString('base64')}`

/** Why the demo cannot begin, in words for a reader; undefined when it can. */
export async function checkServer(target: DemoTarget): Promise<string | undefined> {
  const ask = (path: string, init: RequestInit = {}) => fetch(target.url + path, init).catch(() => undefined)
  const health = await ask('/health')
  if (!health) return `No server answers at ${target.url}. Start one with: npm start`
  if (health.status === 404) return `What answers at ${target.url} is not Callhouse.`
  const body = JSON.stringify({ project_id: target.project })
  const headers = { authorization: authorization(target), 'content-type': 'application/json' }
  const answer = await ask('/calls/query_stats', { method: 'POST', body, headers })
  if (!answer) return `The server at ${target.url} stopped answering.`
  if (answer.ok) return undefined
  const text = await answer.text()
  if (answer.status === 401)
    return `The server at ${target.url} does not know this key. Make one with: npx callhouse keys create demo`
  if (answer.status === 403) return `The key may not use the project ${target.project}: ${text}`
  return `The server at ${target.url} answered ${answer.status}: ${text}`
}

/** POSTs JSON; the values of the answer's lines. */
export async function askServer<T>(target: DemoTarget, path: string, body: unknown): Promise<T[]> {
  const answer = await fetch(target.url + path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: authorization(target), 'content-type': 'application/json' },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}
