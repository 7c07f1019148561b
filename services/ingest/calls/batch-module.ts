// Runs the WebAssembly module that reads batches of calls in their usual form and writes their rows (assembly/).
import { Buffer, isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { inlineTextLength } from '../../content/content-port.ts'
import { namesOf } from '../../content/json-scan.ts'
import { hiddenNames } from '../../content/masking/secret-names.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { plausibleUs } from '../../core/clock/timestamps.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { RecordInput, RecordSplit } from '../../core/log/log.ts'
import type { BufferPool } from '../../core/memory/buffer-pool.ts'
import { loadModule } from '../../core/process/wasm.ts'
import { projectHash, rowLeads, userColumn } from '../../events/calls-writer.ts'
import * as layout from './assembly/layout.ts'
import { maxItemsHere } from './envelope.ts'
import { countNames, statusNames } from './summary-check.ts'

/** Longer bodies are read by JavaScript, so that the memory of a thread stays below 24 MiB. */
const maxBodyBytes = 4 * 1024 * 1024
/** Zero bytes behind the body, at which every loop of the module ends. */
const guardBytes = 64
/** More than the leads, ids, times and texts of a row that are no part of its item, and more than six token counts. */
const maxRowOverhead = 1088
const maxUsageOverhead = 256

type Exports = {
  setup(fields: number, keys: number, inlineTextBytes: number, earliestUs: bigint): void
  read(end: number, isWhole: number, maxDepth: number, maxItems: number, latestUs: bigint): number
  readItems(): number
  readProjects(): number
  usages(): number
  rewind(): void
  write(to: number, items: number, userBytes: number, partition: number, partitions: number, full: number): number
  isFull(items: number): number
  rows(): number
  patches(): number
  clockNumber(): number
  answer(to: number, items: number): number
}

/** The function behind `toString`, without its checks. */
type Bytes = Buffer & { latin1Slice(start: number, end: number): string }

type Memory = { bytes: Uint8Array; view: DataView; buffer: Bytes; clocks: BigUint64Array }

/** A batch in the memory of the module, to be written before anything else is read. */
export type ReadBatch = {
  /** Projects of the items, each once. */
  projects: string[]
  /** The records with its rows; each row takes the next value of the clock, in list order. */
  records(given: { clock: Clock; split: RecordSplit; pool: BufferPool }): RecordInput[]
  /** The list of what stands for each item in the answer to starts and ends. */
  answer(): string
}

type BatchContext = Pick<RouteContext, 'caller' | 'maxJsonDepth' | 'mayTakeLong'> & { body: { bytes: Buffer } }

export type BatchModule = {
  /**
   * Reads a body of starts and ends, or of whole calls. Null when anything in it is not in the usual form, right or
   * wrong: then it has to be read by JavaScript.
   */
  read(context: BatchContext, isWhole: boolean, nowMs: number): ReadBatch | null
}

const summaryNames = ['usage', 'status_counts', ...countNames, ...statusNames]

/** Writes entries of a table: bytes, their length, and a number behind it. */
function writeTable({ bytes }: Memory, at: number, entries: readonly (readonly [Uint8Array, number])[]): void {
  entries.forEach(([text, note], n) => {
    const entry = at + n * layout.entryBytes
    if (text.length > layout.lengthAt) throw new Error('an entry is too long for its table')
    bytes.set(text, entry)
    bytes[entry + layout.lengthAt] = text.length
    bytes[entry + layout.lengthAt + 1] = note
  })
}

const noted = (note: number, texts: Iterable<string | Uint8Array>): [Uint8Array, number][] =>
  Array.from(texts, (text) => [typeof text === 'string' ? Buffer.from(text) : text, note])

function instantiate(fields: readonly string[]): BatchModule | null {
  const code = readFileSync(new URL('./batch.wasm', import.meta.url))
  const loaded = loadModule<Exports>(code, { initial: 64, maximum: 384 })
  if (loaded === null) return null
  const { exports: module, memory } = loaded
  const viewOf = (): Memory => ({
    bytes: new Uint8Array(memory.buffer),
    view: new DataView(memory.buffer),
    buffer: Buffer.from(memory.buffer) as Bytes,
    clocks: new BigUint64Array(memory.buffer, layout.clocks, layout.maxBatchItems),
  })
  let current = viewOf()

  function reserve(sizeBytes: number): void {
    const pages = Math.ceil((sizeBytes - current.bytes.length) / 65_536)
    if (pages <= 0) return
    memory.grow(pages)
    current = viewOf()
  }

  const { texts, bytes, table } = namesOf(...fields, ...summaryNames)
  writeTable(current, layout.names, noted(0, bytes))
  current.bytes.set(
    table.map((n) => n + 1),
    layout.nameSlots,
  )
  const credentials = [...noted(0, hiddenNames.whole), ...noted(1, hiddenNames.endings)]
  writeTable(current, layout.credentials, credentials)
  writeTable(current, layout.leads, noted(0, [...rowLeads, '{"id":', ',"trace_id":']))
  module.setup(texts.length - summaryNames.length, credentials.length, inlineTextLength, BigInt(plausibleUs(0).min))

  /** Text between two positions that are written at an entry. */
  function projectAt(n: number): string {
    const entry = layout.projects + n * layout.projectBytes
    const { view, buffer } = current
    return buffer.toString('utf8', view.getUint32(entry, true) + 1, view.getUint32(entry + 4, true) - 1)
  }

  function recordsOf(
    outAt: number,
    rowCount: number,
    projects: readonly string[],
    userBytes: number,
    { clock, split, pool }: Parameters<ReadBatch['records']>[0],
  ): RecordInput[] {
    const items = module.readItems()
    const { partitions = 1, maxRecordBytes = Number.POSITIVE_INFINITY } = split
    for (let n = 0; n < rowCount; n++) current.clocks[n] = clock.next()
    if (partitions > 1)
      projects.forEach((project, n) => {
        current.view.setInt32(layout.projects + n * layout.projectBytes + 8, projectHash(project), true)
      })
    const records: RecordInput[] = []
    for (let partition = 0; partition < partitions; partition++) {
      module.rewind()
      do {
        const size = module.write(outAt, items, userBytes, partition, partitions, maxRecordBytes / 2) - outAt
        if (module.rows() === 0) continue
        const rows = pool.take(size)
        rows.set(current.bytes.subarray(outAt, outAt + size))
        const counts = (place: number) => {
          const all = projects.map((project, n): [string, number] => [
            project,
            current.view.getUint32(layout.projects + n * layout.projectBytes + place, true),
          ])
          return new Map(all.filter(([, count]) => count > 0))
        }
        records.push({
          rows: rows.subarray(0, size),
          rowCount: module.rows(),
          patchCount: module.patches(),
          clock: current.clocks[module.clockNumber()] as bigint,
          projects: counts(12),
          begun: counts(16),
          key: String(partition),
        })
      } while (module.isFull(items) !== 0)
    }
    return records
  }

  return {
    read({ body: { bytes: body }, caller, maxJsonDepth, mayTakeLong }, isWhole, nowMs) {
      const user = Buffer.from(userColumn(caller.userId))
      if (body.length > maxBodyBytes || user.length > layout.idSlots - layout.user || !isUtf8(body)) return null
      const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
      const end = layout.body + body.length - (hasMark ? 3 : 0)
      reserve(end + guardBytes)
      current.bytes.set(user, layout.user)
      current.bytes.set(hasMark ? body.subarray(3) : body, layout.body)
      current.bytes.fill(0, end, end + guardBytes)
      const maxItems = mayTakeLong ? layout.maxBatchItems : maxItemsHere
      const rowCount = module.read(end, isWhole ? 1 : 0, maxJsonDepth, maxItems, BigInt(plausibleUs(nowMs).max))
      if (rowCount < 0) return null
      const projects = Array.from({ length: module.readProjects() }, (_, n) => projectAt(n))
      const outAt = end + guardBytes
      /** Twice the body: strings that are payloads get a backslash before each quote and backslash, refs are listed again. */
      const overhead = rowCount * (maxRowOverhead + user.length) + module.usages() * maxUsageOverhead
      reserve(outAt + 2 * (outAt - layout.body) + overhead + guardBytes)
      return {
        projects,
        records: (given) => recordsOf(outAt, rowCount, projects, user.length, given),
        answer: () => current.buffer.latin1Slice(outAt, module.answer(outAt, module.readItems())),
      }
    },
  }
}

/** One per names of fields: it keeps nothing between two batches. */
const instances = new Map<string, BatchModule | null>()

/**
 * The module for these names of fields, in the order of assembly/layout.ts; null on a machine without the instructions
 * that it needs (SIMD).
 */
export function batchModule(fields: readonly string[]): BatchModule | null {
  const key = fields.join()
  const known = instances.get(key)
  if (known !== undefined) return known
  const made = instantiate(fields)
  instances.set(key, made)
  return made
}
