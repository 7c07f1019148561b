// Measures limits and masking at the edge: the same calls to projects with and without them, in turns of one process.
// With BENCH_BEFORE, a checkout of another version, also against the edge of that one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BenchCall, createPayloads } from './payloads.ts'
import { type BenchServer, createClient, median, sendAll, startServer } from './process.ts'
import { figure, notMeasured } from './safety-figures.ts'
import type { OfProjects } from './server-edge.ts'

const script = 'scripts/bench/server-edge.ts'
const ownEdge = fileURLToPath(new URL('server-edge.ts', import.meta.url))
/** Calls of a body, few enough that no thread has to mask it. */
const perBody = 16
const bodiesPerTurn = 250
const rounds = 11

const allSets = ['@credentials', '@payment', '@contact']
const patterns = [1, 2].map((n) => ({ id: `case${n}`, pattern: `ACME${n}-\\d{6}`, action: 'mask' }))
const many = 1_000_000_000

type Hits = 'none' | 'some' | 'all'
type Way = { name: string; project: string; hits: Hits }
const way = (name: string, hits: Hits = 'none'): Way => ({ name, project: `bench/${name}`, hits })
const ways = {
  off: way('off'),
  limits: way('limits'),
  sets: way('sets'),
  someHits: { ...way('sets', 'some'), name: 'some hits' },
  allHits: { ...way('sets', 'all'), name: 'all hits' },
  pattern: way('pattern'),
  patterns: way('patterns'),
}

const ofProjects: OfProjects = {
  limits: { 'bench/limits': { requests_per_minute: many, calls_per_minute: many, bytes_per_minute: many } },
  masks: {
    'bench/sets': { sets: allSets },
    'bench/pattern': { sets: allSets, rules: patterns.slice(0, 1) },
    'bench/patterns': { sets: allSets, rules: patterns },
  },
}

/** Every text of a value with an address at its end. */
function withAddresses(value: unknown): unknown {
  if (typeof value === 'string') return `${value} ann@example.com`
  if (Array.isArray(value)) return value.map(withAddresses)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withAddresses(one)]))
}

const payloadsHit: Record<Hits, (place: number) => boolean> = {
  none: () => false,
  some: (place) => place % 20 === 0,
  all: () => true,
}

/** Bodies of the same calls, whatever the project. */
function bodiesOf({ project, hits }: Way): Buffer[] {
  const payloads = createPayloads(11, project)
  let place = 0
  const marked = ({ start, end }: BenchCall) => {
    const isHit = payloadsHit[hits](place++)
    return [
      { mode: 'start', req: { start: isHit ? { ...start, inputs: withAddresses(start.inputs) } : start } },
      { mode: 'end', req: { end: isHit ? { ...end, output: withAddresses(end.output) } : end } },
    ]
  }
  return Array.from({ length: bodiesPerTurn }, () => {
    const calls = Array.from({ length: perBody / 8 }, () => payloads.trace()).flat()
    return Buffer.from(JSON.stringify({ batch: calls.flatMap(marked) }))
  })
}

/** Seconds of CPU of one turn. */
async function turn(edge: BenchServer, bodies: Buffer[]): Promise<number> {
  const send = createClient(edge.port, 2)
  const before = edge.cpuSeconds()
  await sendAll(bodies, (body) => send('/call/upsert_batch', body), 2)
  return edge.cpuSeconds() - before
}

export async function benchEdge(): Promise<void> {
  const before = process.env.BENCH_BEFORE
  const dirs = ['own', 'before'].map((name) => mkdtempSync(join(tmpdir(), `callhouse-safety-${name}-`)))
  const own = await startServer(ownEdge, [dirs[0] as string, JSON.stringify(ofProjects)])
  const turns = new Map<string, () => Promise<number>>()
  for (const one of Object.values(ways)) {
    const bodies = bodiesOf(one)
    turns.set(one.name, () => turn(own, bodies))
  }
  const plain: BenchServer[] = []
  if (before !== undefined) {
    const bodies = bodiesOf(ways.off)
    for (const [name, edge] of [
      ['this version', ownEdge],
      ['before', join(before, script)],
    ] as const) {
      const server = await startServer(edge, [join(dirs[1] as string, name)])
      plain.push(server)
      turns.set(name, () => turn(server, bodies))
    }
  }
  const seconds = new Map<string, number[]>([...turns.keys()].map((name) => [name, []]))
  for (const run of turns.values()) await run()
  // There and back, so that none has always the same one before it.
  for (let round = 0; round < rounds; round++)
    for (const [name, run] of round % 2 === 0 ? [...turns] : [...turns].reverse()) seconds.get(name)?.push(await run())
  for (const server of [own, ...plain]) await server.stop()
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })

  /** The median of the ratios within a round. */
  const ratio = (name: string, to: string): number =>
    median((seconds.get(name) ?? []).map((one, round) => one / (seconds.get(to)?.[round] as number)))
  const name = 'edge CPU per call'
  const us = (median(seconds.get('off') ?? []) / (perBody * bodiesPerTurn)) * 1e6
  process.stdout.write(`${name}, without limits and rules: ${us.toFixed(1)} us\n`)
  if (before === undefined) notMeasured(`${name}, features off, against before`, 1.02, 'BENCH_BEFORE=<checkout>')
  else figure(`${name}, features off, against before`, ratio('this version', 'before'), '', 1.02)
  figure(`${name}, limits on`, ratio('limits', 'off'), '', 1.03)
  figure(`${name}, three sets, no hit`, ratio('sets', 'off'), '', 1.8)
  figure(`${name}, three sets, 5 % of payloads hit`, ratio('some hits', 'off'), '', 1.9)
  figure(`${name}, three sets, every string hit`, ratio('all hits', 'off'), '', 3.5)
  figure(`${name}, a first pattern with a literal`, ratio('pattern', 'sets'), '', 1.05)
  figure(`${name}, a second pattern with a literal`, ratio('patterns', 'pattern'), '', 1.05)
}
