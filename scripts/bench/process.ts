// Child processes of the benchmarks: started on a free port, measured by the CPU time that the kernel counts for them.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { processEnv } from '../../test/fixtures/process-env.ts'

export type BenchServer = {
  child: ChildProcess
  port: number
  /** Port of gRPC, where there is one; 0 otherwise. */
  grpcPort: number
  cpuSeconds(): number
  /** Without the threads that run JavaScript, its compiler and its collector. */
  engineCpuSeconds(): number
  residentMb(): number
  /** Collections that marked a whole heap, of any thread; counted where it was started with `--trace-gc`. */
  markCompacts(): number
  stop(): Promise<void>
}

const ticksPerSecond = 100

function secondsIn(file: string): number {
  const stat = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(stat[11]) + Number(stat[12])) / ticksPerSecond
}

/** User and system time of a process with all its threads, in seconds. */
export const cpuSecondsOf = (pid: number | undefined): number => secondsIn(`/proc/${pid}/stat`)

/** Names of the threads of Node, but of those of its pool, in which the engine runs statements. */
const threadsOfNode = new Set(['node', 'MainThread', 'V8Worker', 'DelayedTaskSche', 'SignalInspector'])

function engineCpuSecondsOf(pid: number | undefined): number {
  const threads = `/proc/${pid}/task`
  const ofNode = readdirSync(threads).filter((one) =>
    threadsOfNode.has(readFileSync(`${threads}/${one}/comm`, 'utf8').trim()),
  )
  return cpuSecondsOf(pid) - ofNode.reduce((sum, one) => sum + secondsIn(`${threads}/${one}/stat`), 0)
}

/** Starts a script that prints `{"port":n}` as a line once it listens. */
export async function startServer(
  script: string,
  args: string[],
  env: Record<string, string> = {},
  nodeArgs: string[] = [],
): Promise<BenchServer> {
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Whoever measures may have settings of its own, which a server does not know.
    env: { ...processEnv(), ...env },
  })
  let markCompacts = 0
  const [port, grpcPort] = await new Promise<[number, number]>((resolve, reject) => {
    let text = ''
    let match: RegExpExecArray | null = null
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)))
    child.stdout?.on('data', (chunk: Buffer) => {
      markCompacts += String(chunk).split('Mark-Compact').length - 1
      if (match) return
      text += chunk
      match = /"port":(\d+)/.exec(text) ?? /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)
      if (match) resolve([Number(match[1]), Number(/"grpc":(\d+)/.exec(text)?.[1] ?? 0)])
    })
  })
  return {
    child,
    port,
    grpcPort,
    cpuSeconds: () => cpuSecondsOf(child.pid),
    engineCpuSeconds: () => engineCpuSecondsOf(child.pid),
    residentMb: () => {
      const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
      return Number(match?.[1] ?? 0) / 1024
    },
    markCompacts: () => markCompacts,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

/** Resolves once a server has derived and merged what was written: while it takes little CPU for some seconds. */
export async function untilAtRest({ cpuSeconds }: BenchServer): Promise<void> {
  const [everyS, restS, ofCore] = [0.5, 3, 0.2]
  for (let quietS = 0; quietS < restS; ) {
    const before = cpuSeconds()
    await new Promise((resolve) => setTimeout(resolve, everyS * 1_000))
    quietS = cpuSeconds() - before < ofCore * everyS ? quietS + everyS : 0
  }
}

const main = fileURLToPath(new URL('../../services/main.ts', import.meta.url))

/** All of Callhouse in one process on a folder, with the keys of `createClient`. */
export const startCallhouseServer = (
  dir: string,
  env: Record<string, string> = {},
  nodeArgs: string[] = [],
): Promise<BenchServer> =>
  startServer(
    main,
    ['serve'],
    {
      CALLHOUSE_PORT: '0',
      CALLHOUSE_DATA_DIR: dir,
      CALLHOUSE_KEYS: 'bench:bench-key,quiet:quiet-key',
      CALLHOUSE_LOG_LEVEL: 'warn',
      // Another server may have the usual ports.
      CALLHOUSE_OTLP_GRPC_PORT: 'off',
      CALLHOUSE_OTLP_HTTP_PORT: 'off',
      ...env,
    },
    nodeArgs,
  )

/** The frozen reference on a folder: it takes the same calls and spans, and counts them by the same path. */
export const startReferenceServer = (dir: string): Promise<BenchServer> =>
  startServer(fileURLToPath(new URL('reference/server.ts', import.meta.url)), [dir])

/** Calls of a project that can be read; -1 while the server does not say. */
export async function countOf({ port }: BenchServer, project: string): Promise<number> {
  const { body, status } = await createClient(port, 1)('/calls/query_stats', JSON.stringify({ project_id: project }))
  if (status === 503) return -1
  if (status !== 200) throw new Error(`count answered ${status}: ${body}`)
  return (JSON.parse(body.toString()) as { count: number }).count
}

export async function untilCounted(server: BenchServer, project: string, count: number): Promise<void> {
  while ((await countOf(server, project)) < count) await new Promise((resolve) => setTimeout(resolve, 20))
}

export type Post = (
  path: string,
  body: Buffer | string,
  type?: string,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: Buffer; ms: number }>

/** A client that keeps its connections. @param key one of those of `startCallhouseServer` */
export function createClient(port: number, sockets: number, key: 'bench-key' | 'quiet-key' = 'bench-key'): Post {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`
  return (path, body, type = 'application/json', headers = {}) =>
    new Promise((resolve, reject) => {
      const began = performance.now()
      const bytes = Buffer.from(body)
      const outgoing = request(
        {
          port,
          host: '127.0.0.1',
          method: 'POST',
          path,
          agent,
          headers: { 'content-type': type, 'content-length': bytes.length, authorization, ...headers },
        },
        (incoming) => {
          const chunks: Buffer[] = []
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
          incoming.on('end', () =>
            resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks), ms: performance.now() - began }),
          )
          incoming.on('error', reject)
        },
      )
      outgoing.on('error', reject)
      outgoing.end(bytes)
    })
}

/** Sends all bodies with a bounded number in flight; returns the milliseconds of each answer. */
export async function sendAll(
  bodies: Buffer[],
  send: (body: Buffer) => Promise<{ status: number; ms: number; body: Buffer }>,
  inFlight: number,
): Promise<number[]> {
  const times: number[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < bodies.length) {
        const body = bodies[next++] as Buffer
        const answer = await send(body)
        if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.body.toString().slice(0, 300)}`)
        times.push(answer.ms)
      }
    }),
  )
  return times
}

/** Sends again what is refused because too much waits to be applied. */
export async function untilTaken<Answer extends { status: number }>(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send()
    if (answer.status !== 429) return answer
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export const median = (values: number[]): number => quantile(values, 0.5)
export const quantile = (values: number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? 0

/** The ratio of two series of one run, taken in turns. */
export const medianRatio = (of: readonly number[], to: readonly number[]): number =>
  median(of.map((value, n) => value / (to[n] as number)))
