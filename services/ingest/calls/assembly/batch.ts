// Reads the body of a batch of calls in the linear memory, pairs starts with ends and writes the rows of the log: the
// usual forms only; for everything else JavaScript takes the whole body.
import {
  beginChecks,
  endOf,
  fieldOf,
  foundIn,
  isBareText,
  isId,
  isMissing,
  isPlainObject,
  isText,
  nameOf,
  noTime,
  readSummary,
  startOf,
  timeField,
} from './checks.ts'
import * as at from './layout.ts'
import {
  begin,
  findings,
  firstRef,
  hasScheme,
  isPlainRef,
  isSame,
  keyEnd,
  passSpace,
  passValue,
  refCount,
  searchContent,
  searchCredentials,
  searchRefs,
  unusual,
} from './scan.ts'

let fieldCount: i32 = 0
let credentialCount: i32 = 0
let inlineBytes: i32 = 0
let earliestUs: i64 = 0

let itemCount: i32 = 0
let projectCount: i32 = 0
let lastProject: i32 = 0
let latestUs: i64 = 0
let isWhole: bool = false
let depth: i32 = 0
let itemLimit: i32 = 0

export function readItems(): i32 {
  return itemCount
}
export function readProjects(): i32 {
  return projectCount
}

/**
 * Once per instance.
 * @param fields how many of the names are those of fields, @param keys how many names of credentials there are
 */
export function setup(fields: i32, keys: i32, inlineTextBytes: i32, earliest: i64): void {
  fieldCount = fields
  credentialCount = keys
  inlineBytes = inlineTextBytes
  earliestUs = earliest
}

function interestOf(field: i32): i32 {
  if (field === at.inputs) return searchRefs | searchCredentials | searchContent
  if (field === at.output) return searchRefs | searchContent
  return field === at.attributes || field === at.otelDump ? searchCredentials : 0
}

/** Position of the value behind the name that ends at `end`, 0 when there is none. */
function valueAfter(end: usize): usize {
  const colon = passSpace(end + 1)
  return load<u8>(colon) === 58 ? passSpace(colon + 1) : 0
}

/** Position of the next member's name behind the container's beginning or a member, of `closing`, or 0. */
function nextPart(from: usize, isFirst: bool, closing: u8): usize {
  const p = passSpace(from)
  if (load<u8>(p) === closing || isFirst) return p
  if (load<u8>(p) !== 44) return 0
  const next = passSpace(p + 1)
  // A comma stands before something.
  return load<u8>(next) === closing ? 0 : next
}

/** Notes the value of a field, which was passed over last; false when the item has the field already. */
function noteField(item: usize, field: i32, start: usize, end: usize): bool {
  const slot = fieldOf(item, field)
  if (load<u32>(slot) !== 0) return false
  store<u32>(slot, <u32>start)
  store<u32>(slot + 4, <u32>end)
  store<i32>(slot + 8, findings)
  if (field === at.inputs || field === at.output) {
    const list = item + (field === at.inputs ? at.itemInputRefs : at.itemOutputRefs)
    store<i32>(list, firstRef)
    store<i32>(list + 4, refCount)
  }
  return true
}

/** Reads the object of a start, an end or a whole call; position behind it, 0 when it is not the usual one. */
function readSide(item: usize, from: usize): usize {
  if (load<u8>(from) !== 123) return 0
  let p = from + 1
  let isFirst = true
  while (true) {
    p = nextPart(p, isFirst, 125)
    isFirst = false
    if (load<u8>(p) === 125) return p + 1
    if (p === 0 || load<u8>(p) !== 34) return 0
    const end = keyEnd(p + 1)
    if (end === 0) return 0
    const field = nameOf(p + 1, end)
    const start = valueAfter(end)
    if (start === 0) return 0
    p = passValue(start, depth, interestOf(field))
    if (p === 0) return 0
    if (field >= 0 && field < fieldCount && !noteField(item, field, start, p)) return 0
  }
}

/** Number of the item's project, -1 when there are too many. */
function projectOf(item: usize): i32 {
  const start = startOf(item, at.projectId)
  const length = endOf(item, at.projectId) - start
  for (let n = -1; n < projectCount; n++) {
    const number = n === -1 ? lastProject : n
    const entry = at.projects + number * at.projectBytes
    const known = <usize>load<u32>(entry)
    if (projectCount === 0 || <usize>load<u32>(entry + 4) - known !== length || !isSame(known, start, length)) continue
    lastProject = number
    return number
  }
  if (projectCount === at.maxProjects) return -1
  const entry = at.projects + projectCount * at.projectBytes
  store<u32>(entry, <u32>start)
  store<u32>(entry + 4, <u32>(start + length))
  lastProject = projectCount
  return projectCount++
}

function isPlausible(us: i64): bool {
  return us >= earliestUs && us <= latestUs
}

function isOpName(item: usize): bool {
  if (!isBareText(item, at.opName)) return false
  const start = startOf(item, at.opName) + 1
  const end = endOf(item, at.opName) - 1
  return hasScheme(start) ? isPlainRef(start, end, true) : end - start <= 128
}

function isOptionalText(item: usize, field: i32): bool {
  return isMissing(item, field) || isText(item, field)
}

/** Checks the fields of a start; false when one is not the usual one. */
function checkStart(item: usize): bool {
  const startedUs = timeField(item, at.startedAt)
  if (startedUs === noTime || !isPlausible(startedUs)) return false
  store<i64>(item + at.itemStartedUs, startedUs)
  if (!isId(item, at.traceId, 32) || !isOpName(item)) return false
  if (!isMissing(item, at.parentId) && !isId(item, at.parentId, 16)) return false
  if (!isOptionalText(item, at.displayName)) return false
  if (endOf(item, at.displayName) - startOf(item, at.displayName) > 1024) return false
  if (!isOptionalText(item, at.threadId) || !isOptionalText(item, at.turnId)) return false
  return isPlainObject(item, at.attributes) && isPlainObject(item, at.inputs) && isMissing(item, at.otelDump)
}

/** The same for an end. */
function checkEnd(item: usize): bool {
  const endedUs = timeField(item, at.endedAt)
  if (endedUs === noTime || !isPlausible(endedUs)) return false
  store<i64>(item + at.itemEndedUs, endedUs)
  let payloadUs = endedUs
  if (!isMissing(item, at.startedAt)) {
    const hint = timeField(item, at.startedAt)
    if (hint === noTime) return false
    if (isPlausible(hint)) payloadUs = hint
  }
  store<i64>(item + at.itemPayloadUs, payloadUs)
  if (!isOptionalText(item, at.exception) || foundIn(item, at.output) & unusual) return false
  return isPlainObject(item, at.summary) && readSummary(item, startOf(item, at.summary))
}

function checkItem(item: usize): bool {
  const kind = load<i32>(item + at.itemKind)
  for (let field = at.prefixed; field < fieldCount; field++) if (!isMissing(item, field)) return false
  if (!isBareText(item, at.projectId) || !isId(item, at.id, 16)) return false
  const project = projectOf(item)
  if (project < 0) return false
  store<i32>(item + at.itemProject, project)
  return (!(kind & at.isStart) || checkStart(item)) && (!(kind & at.isEnd) || checkEnd(item))
}

/** Whether the text between quotes is `start`: 1, `end`: 2, something else: 0. */
function sideOf(start: usize, end: usize): i32 {
  if (end - start === 5 && load<u32>(start) === 0x72617473 && load<u8>(start + 4) === 116) return at.isStart
  return end - start === 3 && load<u16>(start) === 0x6e65 && load<u8>(start + 2) === 100 ? at.isEnd : 0
}

/** Reads `{"start": …}` or `{"end": …}`. */
function readRequest(item: usize, from: usize): usize {
  if (load<u8>(from) !== 123) return 0
  let p = nextPart(from + 1, true, 125)
  if (load<u8>(p) !== 34) return 0
  const end = keyEnd(p + 1)
  if (end === 0) return 0
  const side = sideOf(p + 1, end)
  p = valueAfter(end)
  if (side === 0 || p === 0) return 0
  store<i32>(item + at.itemKind, side)
  p = readSide(item, p)
  if (p === 0) return 0
  p = passSpace(p)
  return load<u8>(p) === 125 ? p + 1 : 0
}

/** The item's `mode`: the side, 0 = none so far. */
let mode: i32 = 0

/** Reads one of the two members of an item; position behind it, 0 when it is not the usual one. */
function readMember(item: usize, from: usize): usize {
  if (load<u8>(from) !== 34) return 0
  const end = keyEnd(from + 1)
  if (end === 0) return 0
  const value = valueAfter(end)
  if (value === 0) return 0
  // req
  if (end - from === 4 && load<u16>(from + 1) === 0x6572 && load<u8>(from + 3) === 113)
    return load<i32>(item + at.itemKind) === 0 ? readRequest(item, value) : 0
  // mode
  if (end - from !== 5 || load<u32>(from + 1) !== 0x65646f6d || mode !== 0 || load<u8>(value) !== 34) return 0
  const close = keyEnd(value + 1)
  mode = close === 0 ? 0 : sideOf(value + 1, close)
  return mode === 0 ? 0 : close + 1
}

/** Reads `{"mode": …, "req": …}`. */
function readUpsert(item: usize, from: usize): usize {
  if (load<u8>(from) !== 123) return 0
  mode = 0
  let p = from + 1
  let isFirst = true
  while (true) {
    p = nextPart(p, isFirst, 125)
    isFirst = false
    if (load<u8>(p) === 125) break
    if (p !== 0) p = readMember(item, p)
    if (p === 0) return 0
  }
  const kind = load<i32>(item + at.itemKind)
  return kind === 0 || (mode !== 0 && mode !== kind) ? 0 : p + 1
}

function itemAt(number: i32): usize {
  return at.itemTable + number * at.itemBytes
}

/** Finds the items of the same call; false when too many ids fall together. */
function pair(number: i32): bool {
  const item = itemAt(number)
  const start = startOf(item, at.id)
  const length = endOf(item, at.id) - start
  const mixed = (load<u64>(start + 1) ^ rotl<u64>(load<u64>(start + length - 9), 29)) * 0x9e3779b1
  const hash = <i32>(mixed >> 20)
  store<i32>(item + at.itemHash, hash)
  for (let tries = 0; tries < 128; tries++) {
    const slot = at.idSlots + ((hash + tries) & (at.idSlotCount - 1)) * 4
    const known = load<i32>(slot)
    if (known === 0) {
      store<i32>(slot, number + 1)
      store<i32>(item + at.itemCount, 1)
      return true
    }
    const other = itemAt(known - 1)
    if (
      load<i32>(other + at.itemHash) !== hash ||
      load<i32>(other + at.itemProject) !== load<i32>(item + at.itemProject)
    )
      continue
    const id = startOf(other, at.id)
    if (endOf(other, at.id) - id !== length || !isSame(id, start, length)) continue
    const count = load<i32>(other + at.itemCount) + 1
    store<i32>(other + at.itemCount, count)
    if (count === 2) store<i32>(other + at.itemSecond, number + 1)
    return true
  }
  return false
}

/** Joins the starts and ends of which there is one each; how many rows there are. */
function pairAll(): i32 {
  memory.fill(at.idSlots, 0, at.idSlotCount * 4)
  for (let n = 0; n < itemCount; n++) if (!pair(n)) return -1
  let rows = itemCount
  for (let n = 0; n < itemCount; n++) {
    const item = itemAt(n)
    if (load<i32>(item + at.itemCount) !== 2) continue
    const second = load<i32>(item + at.itemSecond)
    const other = itemAt(second - 1)
    if (load<i32>(item + at.itemKind) === load<i32>(other + at.itemKind)) continue
    store<i32>(item + at.itemOther, second)
    store<i32>(other + at.itemOther, -1)
    rows--
  }
  return rows
}

/** Position behind `{"batch": [`, 0 when the body does not begin so. */
function itemsStart(): usize {
  let p = passSpace(at.body)
  if (load<u8>(p) !== 123) return 0
  p = passSpace(p + 1)
  // "batch"
  if (load<u32>(p) !== 0x74616222 || load<u16>(p + 4) !== 0x6863 || load<u8>(p + 6) !== 34) return 0
  p = valueAfter(p + 6)
  return p === 0 || load<u8>(p) !== 91 ? 0 : p + 1
}

/**
 * Reads the body. The number of its rows, -1 when JavaScript has to read it.
 * @param end position behind the body; 64 zero bytes follow
 * @param whole the items are whole calls
 * @param latest greatest time that a call may have, microseconds since 1970
 */
export function read(end: usize, whole: bool, maxDepth: i32, limit: i32, latest: i64): i32 {
  isWhole = whole
  depth = whole ? 3 : 5
  latestUs = latest
  itemLimit = min(limit, at.maxBatchItems)
  itemCount = 0
  projectCount = 0
  lastProject = 0
  begin(maxDepth, credentialCount, inlineBytes)
  beginChecks(fieldCount, depth)
  let p = itemsStart()
  if (p === 0) return -1
  let isFirst = true
  while (true) {
    p = nextPart(p, isFirst, 93)
    isFirst = false
    if (p === 0) return -1
    if (load<u8>(p) === 93) break
    if (itemCount === itemLimit) return -1
    const item = itemAt(itemCount)
    memory.fill(item, 0, at.itemBytes)
    if (whole) store<i32>(item + at.itemKind, at.isStart | at.isEnd)
    p = whole ? readSide(item, p) : readUpsert(item, p)
    if (p === 0 || !checkItem(item)) return -1
    itemCount++
  }
  p = passSpace(p + 1)
  if (load<u8>(p) !== 125 || passSpace(p + 1) !== end || itemCount === 0) return -1
  return isWhole ? itemCount : pairAll()
}
