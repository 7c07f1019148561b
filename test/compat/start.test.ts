// tier: deep compat
// The output of a start: the first key, and one clear line for each way in which a start can fail.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import { processEnv } from '../fixtures/process-env.ts'

const program = fileURLToPath(new URL('../../services/main.ts', import.meta.url))

type Ended = { code: number | null; stdout: string; stderr: string }
type Running = { child: ChildProcess; listening: Promise<string>; ended: Promise<Ended> }

/** Runs the command line as a shell would, with the given flags and no settings from outside. */
function callhouse(args: string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...processEnv(), ...env },
  })
  const printed = { stdout: '', stderr: '' }
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...printed })))
  const listening = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      printed.stdout += chunk
      const url = /listens on (http:\S+)\n[\s\S]*data folder: .*\n/.exec(printed.stdout)?.[1]
      if (url) resolve(url)
    })
    child.stderr.on('data', (chunk) => {
      printed.stderr += chunk
    })
    void ended.then(({ stderr }) => reject(new Error(`ended before it listened: ${stderr}`)))
  })
  listening.catch(() => undefined)
  return { child, listening, ended }
}

const firstKey = /first API key \(shown once, keep it\): (\S+)\n/

describe('start', () => {
  let dir: string
  let running: Running
  let second: Running
  let port: string
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'callhouse-start-'))
    // As installations of earlier versions left it.
    mkdirSync(join(dir, 'one'))
    chmodSync(join(dir, 'one'), 0o755)
    running = callhouse(['serve', '--port', '0', '--data-dir', join(dir, 'one')])
    port = new URL(await running.listening).port
    second = callhouse(['serve', '--port', '0', '--data-dir', join(dir, 'one')])
  })
  afterAll(async () => {
    running.child.kill('SIGTERM')
    await running.ended
    rmSync(dir, { recursive: true, force: true })
  })

  it('names the port that is in use and does not use up the first key; the next start waits for the end of the one before', async () => {
    const dataDir = join(dir, 'two')
    const failed = await callhouse(['serve', '--port', port, '--data-dir', dataDir]).ended
    expect(failed.code).toBe(1)
    expect(failed.stderr).toBe(
      `callhouse: port ${port} of 127.0.0.1 is in use by another process; --port chooses another one\n`,
    )
    const ports = ['--otlp-grpc-port', 'off', '--otlp-http-port', '0']
    const again = callhouse(['serve', '--port', '0', '--data-dir', dataDir, ...ports])
    const url = await again.listening
    // The next one waits for the end of this one, and starts then.
    const third = callhouse(['serve', '--port', '0', '--data-dir', dataDir])
    await once(third.child.stderr as Readable, 'data')
    again.child.kill('SIGINT')
    const { code, stdout, stderr } = await again.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`listens on ${url}`)
    const key = firstKey.exec(stdout)?.[1] as string
    expect(key).toMatch(/^chk_[0-9A-Za-z]{50}$/)
    // The environment of an exporter, with the port that was opened.
    const otlp = /^OTLP: (127\.0\.0\.1:\d+) \(HTTP\), and (\S+)\/v1\/traces$/m.exec(stdout)
    expect(otlp?.[2]).toBe(url)
    expect(stdout).toContain(
      `\n  export OTEL_EXPORTER_OTLP_ENDPOINT=http://${otlp?.[1]}\n  export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n` +
        '  export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20<key>,project_id=<entity>/<project>"\n',
    )
    // The key is stored: another start makes no further one.
    const answer = await fetch(`${await third.listening}/calls/query_stats`, {
      method: 'POST',
      body: '{"project_id":"acme/demo"}',
      headers: { authorization: `Bearer ${key}` },
    })
    expect(answer.status).toBe(200)
    third.child.kill('SIGTERM')
    const later = (await third.ended).stdout
    expect(later).not.toMatch(firstKey)
    expect(later).not.toContain('OTEL_EXPORTER')
  })

  it('says at once who holds the data folder, and gives up after ten seconds', async () => {
    const failed = await second.ended
    expect(failed.code).toBe(1)
    const holder = `callhouse: ${join(dir, 'one')} is in use by process ${running.child.pid} on `
    const [waiting, last, ...more] = failed.stderr.trimEnd().split('\n')
    expect(waiting).toContain(holder)
    expect(waiting).toContain('waits up to 10 s for it to end')
    expect(last).toContain(holder)
    expect(more).toEqual([])
  })

  it('keeps what it writes to its user: data folder, backup and export', async () => {
    const dataDir = join(dir, 'one')
    const made = { backup: join(dir, 'backup'), export: join(dir, 'export') }
    for (const [command, folder] of Object.entries(made))
      expect((await callhouse([command, folder, '--data-dir', dataDir]).ended).stdout).toContain('done')
    const opened = (folder: string): string[] => {
      const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
      const paths = entries
        .filter((entry) => !entry.isSymbolicLink())
        .map((entry) => join(entry.parentPath, entry.name))
      expect(paths.length).toBeGreaterThan(0)
      return [folder, ...paths].filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0)
    }
    // The server goes on: a folder may be gone while it is looked into.
    for (const folder of [dataDir, ...Object.values(made)]) await eventually(() => expect(opened(folder)).toEqual([]))
  })

  it('leaves the log as it is while a process holds the tables that knows nothing of the lock', async () => {
    const dataDir = join(dir, 'four')
    const store = fileURLToPath(new URL('../engine/store-process.ts', import.meta.url))
    const engine = spawn(process.execPath, [store, dataDir, 'hold'], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(engine.stdout, 'data')
    const torn = join(dataDir, 'log/calls/0000000000000001.jsonl')
    mkdirSync(dirname(torn), { recursive: true })
    writeFileSync(torn, '{"half a rec')
    const failed = await callhouse(['serve', '--port', '0', '--data-dir', dataDir]).ended
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain(`opened by process ${engine.pid}`)
    expect(readFileSync(torn, 'utf8')).toBe('{"half a rec')
    engine.kill('SIGKILL')
  })

  it('has one line for each faulty setting', async () => {
    const env = { CALLHOUSE_PROT: '1', CALLHOUSE_WIRE_PREFIX: 'other' }
    const failed = await callhouse(['serve', '--port', 'abc', '--data-dri=x'], env).ended
    expect(failed.code).toBe(2)
    expect(failed.stderr.trim().split('\n')).toEqual([
      "callhouse: Unknown setting CALLHOUSE_PROT; 'callhouse config' lists all settings",
      "Unknown flag --data-dri; 'callhouse config' lists all settings, 'callhouse help' all commands",
      '--port must be an integer from 0 to 65535, not "abc"',
      'CALLHOUSE_WIRE_PREFIX must be one of platform, wb, not "other"',
    ])
  })

  it('ends quietly when the reader of its output leaves', async () => {
    const config = callhouse(['config'])
    config.child.stdout?.destroy()
    expect(await config.ended).toMatchObject({ code: 0, stderr: '' })
  })
})
