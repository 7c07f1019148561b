// Writes the rows and the answer of a batch that batch.ts has read, byte for byte as events/calls-writer.ts does.
import { endOf, isMissing, startOf } from './checks.ts'
import * as at from './layout.ts'

/** The bytes before values, in the order of the loader's list. */
const heads: i32 = 0 // of a start, an end and a whole call
const idLead: i32 = 3
const clockLead: i32 = 4
const startedUs: i32 = 5
const endedUs: i32 = 6
const payloadUs: i32 = 7
const traceId: i32 = 8
const parentId: i32 = 9
const threadId: i32 = 10
const turnId: i32 = 11
const opName: i32 = 12
const named: i32 = 13
const displayName: i32 = 14
const exception: i32 = 15
const inputRefs: i32 = 16
const outputRefs: i32 = 17
const errorCount: i32 = 18
const usageModel: i32 = 19
const usageCounts: i32 = 20
const startBytes: i32 = 26
const endBytes: i32 = 27
const attributes: i32 = 28
const inputs: i32 = 29
const output: i32 = 30
const summary: i32 = 31
const rowEnd: i32 = 32
const answerHead: i32 = 33
const answerTrace: i32 = 34

/** Position of the next byte that is written. */
let out: usize = 0
let nextRow: i32 = 0
let nextClock: i32 = 0
let rowCount: i32 = 0
let patchCount: i32 = 0
let lastClock: i32 = 0

/** The rows of the record that was written last, those of parts of calls, and the number of the last row's clock. */
export function rows(): i32 {
  return rowCount
}
export function patches(): i32 {
  return patchCount
}
export function clockNumber(): i32 {
  return lastClock
}

/** Up to 48 bytes; what lies behind them is written over. */
function lead(number: i32): void {
  const entry = at.leads + number * at.entryBytes
  v128.store(out, v128.load(entry))
  v128.store(out, v128.load(entry, 16), 16)
  v128.store(out, v128.load(entry, 32), 32)
  out += <usize>load<u8>(entry + at.lengthAt)
}

function bytes(start: usize, end: usize): void {
  memory.copy(out, start, end - start)
  out += end - start
}

function byte(c: u8): void {
  store<u8>(out++, c)
}

function integer(value: u64): void {
  let places: usize = 1
  for (let rest = value / 10; rest !== 0; rest /= 10) places++
  let rest = value
  for (let p = out + places; p > out; rest /= 10) store<u8>(--p, <u8>(48 + (rest % 10)))
  out += places
}

function integerColumn(before: i32, value: u64): void {
  lead(before)
  integer(value)
}

/** A text that is not empty. */
function textColumn(before: i32, item: usize, field: i32): void {
  if (isMissing(item, field)) return
  const start = startOf(item, field)
  const end = endOf(item, field)
  if (end - start === 2) return
  lead(before)
  bytes(start, end)
}

function refsColumn(before: i32, list: usize): void {
  const end = load<i32>(list + 4)
  let n = load<i32>(list)
  if (n === end) return
  lead(before)
  byte(91)
  for (; n < end; n++) {
    // The bytes include the quotes around it.
    bytes(<usize>load<u32>(at.refs + n * 8) - 1, <usize>load<u32>(at.refs + n * 8 + 4) + 1)
    byte(44)
  }
  store<u8>(out - 1, 93)
}

function usageColumns(item: usize): void {
  const first = load<i32>(item + at.itemUsage)
  const end = load<i32>(item + at.itemUsage + 4)
  if (first === end) return
  lead(usageModel)
  byte(91)
  for (let n = first; n < end; n++) {
    const entry = at.usage + n * at.usageBytes
    bytes(<usize>load<u32>(entry) - 1, <usize>load<u32>(entry + 4) + 1)
    byte(44)
  }
  store<u8>(out - 1, 93)
  for (let column = 0; column < 6; column++) {
    lead(usageCounts + column)
    byte(91)
    for (let n = first; n < end; n++) {
      integer(load<u64>(at.usage + n * at.usageBytes + 8 + column * 8))
      byte(44)
    }
    store<u8>(out - 1, 93)
  }
}

function sizeOf(item: usize, field: i32): u64 {
  return endOf(item, field) - startOf(item, field)
}

/** Size of the output; of one that is missing the word null is stored. */
function outputSize(item: usize): u64 {
  return startOf(item, at.output) === 0 ? 4 : sizeOf(item, at.output)
}

/** Objects and arrays as they are, everything else as a string that holds its JSON text. */
function payload(before: i32, item: usize, field: i32): void {
  lead(before)
  const start = startOf(item, field)
  const end = endOf(item, field)
  const first = load<u8>(start)
  if (start !== 0 && (first === 123 || first === 91)) {
    bytes(start, end)
    return
  }
  byte(34)
  if (start === 0) {
    store<u32>(out, 0x6c6c756e) // null
    out += 4
  } else if (first !== 34) bytes(start, end)
  else
    for (let p = start; p < end; p++) {
      const c = load<u8>(p)
      if (c === 34 || c === 92) byte(92)
      byte(c)
    }
  byte(34)
}

function idColumns(start: usize): void {
  textColumn(traceId, start, at.traceId)
  textColumn(parentId, start, at.parentId)
  textColumn(threadId, start, at.threadId)
  textColumn(turnId, start, at.turnId)
  textColumn(opName, start, at.opName)
  if (isMissing(start, at.displayName)) return
  lead(named)
  textColumn(displayName, start, at.displayName)
}

/** @param start the item with the start, @param end the one with the end; 0 = there is none */
function writeRow(start: usize, end: usize, userEnd: usize): void {
  const item = start !== 0 ? start : end
  const project = at.projects + load<i32>(item + at.itemProject) * at.projectBytes
  lead(heads + (start === 0 ? 1 : end === 0 ? 0 : 2))
  bytes(<usize>load<u32>(project), <usize>load<u32>(project + 4))
  lead(idLead)
  bytes(startOf(item, at.id), endOf(item, at.id))
  integerColumn(clockLead, load<u64>(at.clocks + nextClock * 8))
  if (start !== 0) integerColumn(startedUs, load<u64>(start + at.itemStartedUs))
  if (end !== 0) integerColumn(endedUs, load<u64>(end + at.itemEndedUs))
  if (start === 0) integerColumn(payloadUs, load<u64>(end + at.itemPayloadUs))
  if (start !== 0) idColumns(start)
  if (end !== 0) textColumn(exception, end, at.exception)
  if (start !== 0) {
    bytes(at.user, userEnd)
    refsColumn(inputRefs, start + at.itemInputRefs)
  }
  if (end !== 0) {
    refsColumn(outputRefs, end + at.itemOutputRefs)
    const errors = <u64>load<u32>(end + at.itemErrors)
    if (errors !== 0) integerColumn(errorCount, errors)
    usageColumns(end)
  }
  if (start !== 0) integerColumn(startBytes, sizeOf(start, at.attributes) + sizeOf(start, at.inputs))
  if (end !== 0) integerColumn(endBytes, outputSize(end) + sizeOf(end, at.summary))
  if (start !== 0) {
    payload(attributes, start, at.attributes)
    payload(inputs, start, at.inputs)
  }
  if (end !== 0) {
    payload(output, end, at.output)
    payload(summary, end, at.summary)
  }
  lead(rowEnd)
}

/** FNV-1a over project and id, of which the first is in the project's seed: see `partitionOfCall`. */
function partitionOf(item: usize, partitions: u32): u32 {
  if (partitions === 1) return 0
  let hash = load<u32>(at.projects + load<i32>(item + at.itemProject) * at.projectBytes + 8)
  for (let p = startOf(item, at.id) + 1; p < endOf(item, at.id) - 1; p++) hash = (hash ^ load<u8>(p)) * 0x01000193
  return hash % partitions
}

/** Before the rows of a partition. */
export function rewind(): void {
  nextRow = 0
  nextClock = 0
}

/**
 * Writes rows of one partition to `to`, until there are `full` bytes; the position behind them. The bytes and
 * begun calls of each project are in its entry.
 */
export function write(to: usize, count: i32, userBytes: i32, partition: u32, partitions: u32, full: f64): usize {
  out = to
  rowCount = 0
  patchCount = 0
  for (let n = 0; n < at.maxProjects; n++) store<u64>(at.projects + n * at.projectBytes + 12, 0)
  for (; nextRow < count; nextRow++) {
    const item = at.itemTable + nextRow * at.itemBytes
    const other = load<i32>(item + at.itemOther)
    if (other < 0) continue
    if (partitionOf(item, partitions) !== partition) {
      nextClock++
      continue
    }
    if (<f64>(out - to) >= full) return out
    const begin = out
    const kind = load<i32>(item + at.itemKind)
    const pair: usize = other === 0 ? 0 : at.itemTable + (other - 1) * at.itemBytes
    const start = kind & at.isStart ? item : pair
    const end = kind & at.isEnd ? item : pair
    writeRow(start, end, at.user + userBytes)
    if (start === 0 || end === 0) patchCount++
    rowCount++
    lastClock = nextClock++
    const project = at.projects + load<i32>(item + at.itemProject) * at.projectBytes + 12
    store<u32>(project, load<u32>(project) + <u32>(out - begin))
    if (start !== 0) store<u32>(project + 4, load<u32>(project + 4) + 1)
  }
  return out
}

/** Whether rows of the partition are left. */
export function isFull(count: i32): bool {
  return nextRow < count
}

/** Writes the answer of a batch of starts and ends to `to`; the position behind it. */
export function answer(to: usize, count: i32): usize {
  out = to
  byte(91)
  for (let n = 0; n < count; n++) {
    const item = at.itemTable + n * at.itemBytes
    if (load<i32>(item + at.itemKind) === at.isStart) {
      lead(answerHead)
      bytes(startOf(item, at.id), endOf(item, at.id))
      lead(answerTrace)
      bytes(startOf(item, at.traceId), endOf(item, at.traceId))
      byte(125)
    } else {
      byte(123)
      byte(125)
    }
    byte(44)
  }
  store<u8>(out - 1, 93)
  return out
}
