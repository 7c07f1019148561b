// Measures the time until all processes of an installation of roles over Kafka refuse a key that one of them revokes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startBroker } from '../../test/fixtures/kafka-broker.ts'
import { type BenchServer, median, quantile } from './process.ts'
import { startRoles } from './roles.ts'
import { figure } from './safety-figures.ts'

const revocations = 100
const user_id = 'revoked'

/** An administrator's request. */
async function ask(server: BenchServer, method: string, path: string, body?: object): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { authorization: 'Bearer bench-key' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return text
}

/** Resolves once a process answers a key with a status. */
async function until(server: BenchServer, key: string, status: 200 | 401): Promise<void> {
  for (;;) {
    // A path that every role serves.
    const answer = await fetch(`http://127.0.0.1:${server.port}/openapi.json`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await answer.body?.cancel()
    if (answer.status === status) return
    await pause(10)
  }
}

export async function benchRevocationOverKafka(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-safety-'))
  const broker = await startBroker()
  try {
    const { ingest, applying, query, remove } = await startRoles(1, broker.address, dir)
    try {
      const all = [query, ingest, ...applying]
      await ask(query, 'POST', '/users', { id: user_id, kind: 'service' })
      await ask(query, 'PUT', '/grants', { user_id, scope: 'acme', role: 'writer' })
      const seconds: number[] = []
      for (let n = 0; n < revocations; n++) {
        const asked = { user_id, actions: ['read', 'ingest'], scopes: ['acme/app'] }
        const made = JSON.parse(await ask(query, 'POST', '/keys', asked)) as { id: string; key: string }
        await Promise.all(all.map((server) => until(server, made.key, 200)))
        // The time counts from the request on, not from its answer: the process that revokes is one of those that have
        // to see it.
        const began = performance.now()
        const revoking = ask(query, 'DELETE', `/keys/${made.id}`)
        await Promise.all([revoking, ...all.map((server) => until(server, made.key, 401))])
        seconds.push((performance.now() - began) / 1000)
      }
      process.stdout.write(`revocation over Kafka, p50: ${median(seconds).toFixed(3)} s\n`)
      figure('revocation seen by every process, p99, Kafka', quantile(seconds, 0.99), 's', 2)
    } finally {
      await remove()
    }
  } finally {
    await broker.dispose()
    rmSync(dir, { recursive: true, force: true })
  }
}
