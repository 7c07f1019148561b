// Reads single fields of items that scan.ts has passed over: texts, ids, times and token counts in their usual spelling.
import {
  entryBytes,
  fieldBytes,
  itemErrors,
  itemFields,
  itemUsage,
  lengthAt,
  maxUsage,
  nameSlots,
  names,
  usage,
  usageBytes,
} from './layout.ts'
import { hasOtherEscapes, isDigit, isSame, keyEnd, passSpace, passValue, unusual } from './scan.ts'

/** Token counts that were noted so far. */
let usageCount: i32 = 0
export function usages(): i32 {
  return usageCount
}
/** Number of the first name that is looked for in a summary: usage, status_counts, the counts, the statuses. */
let summaryNames: i32 = 0
let summaryDepth: i32 = 0
const countNames: i32 = 8

export function beginChecks(firstSummaryName: i32, depth: i32): void {
  summaryNames = firstSummaryName
  summaryDepth = depth
  usageCount = 0
}

/** Number of a name without escapes, -1 when it is not looked for. */
export function nameOf(start: usize, end: usize): i32 {
  const length = <i32>(end - start)
  if (length === 0) return -1
  let slot = (length * 5 + <i32>load<u8>(start) * 3 + <i32>load<u8>(end - 1)) & 255
  while (true) {
    const n = <i32>load<u8>(nameSlots + slot)
    if (n === 0) return -1
    const entry = names + (n - 1) * entryBytes
    if (<i32>load<u8>(entry + lengthAt) === length && isSame(entry, start, length)) return n - 1
    slot = (slot + 1) & 255
  }
}

export function fieldOf(item: usize, field: i32): usize {
  return item + itemFields + field * fieldBytes
}
export function startOf(item: usize, field: i32): usize {
  return <usize>load<u32>(fieldOf(item, field))
}
export function endOf(item: usize, field: i32): usize {
  return <usize>load<u32>(fieldOf(item, field) + 4)
}
export function foundIn(item: usize, field: i32): i32 {
  return load<i32>(fieldOf(item, field) + 8)
}

export function isMissing(item: usize, field: i32): bool {
  const start = startOf(item, field)
  return start === 0 || load<u8>(start) === 110
}

/** A string that rows write as it stands. */
export function isText(item: usize, field: i32): bool {
  const start = startOf(item, field)
  return start !== 0 && load<u8>(start) === 34 && (foundIn(item, field) & (hasOtherEscapes | unusual)) === 0
}

/** A string without escapes. */
export function isBareText(item: usize, field: i32): bool {
  const start = startOf(item, field)
  return start !== 0 && load<u8>(start) === 34 && foundIn(item, field) === 0
}

/** An object that is stored as it stands. */
export function isPlainObject(item: usize, field: i32): bool {
  const start = startOf(item, field)
  return start !== 0 && load<u8>(start) === 123 && (foundIn(item, field) & unusual) === 0
}

function isUuid(from: usize): bool {
  for (let i: usize = 0; i < 36; i++) {
    const c = load<u8>(from + i)
    const isDash = i === 8 || i === 13 || i === 18 || i === 23
    if (isDash ? c !== 45 : !isDigit(c) && (c < 97 || c > 102)) return false
  }
  return true
}

/** A UUID, or so many characters of ASCII without capitals. */
export function isId(item: usize, field: i32, otherLength: usize): bool {
  if (!isBareText(item, field)) return false
  const from = startOf(item, field) + 1
  const length = endOf(item, field) - from - 1
  if (length === 36) return isUuid(from)
  if (length !== otherLength) return false
  for (let i: usize = 0; i < length; i++) {
    const c = load<u8>(from + i)
    if (c >= 128 || (c >= 65 && c <= 90)) return false
  }
  return true
}

/** Two digits, negative when they are none. */
function two(p: usize): i32 {
  const a = load<u8>(p)
  const b = load<u8>(p + 1)
  return isDigit(a) && isDigit(b) ? (<i32>a - 48) * 10 + <i32>b - 48 : -1
}

/** Days from 1970-01-01, as in core/clock/timestamps.ts. */
function daysFromCivil(year: i32, month: i32, day: i32): i32 {
  const y = month <= 2 ? year - 1 : year
  const era = y / 400
  const yearOfEra = y - era * 400
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468
}

function daysIn(year: i32, month: i32): i32 {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

export const noTime: i64 = -1

/** Minutes of the offset between two positions; 10000 when it is written in another way. */
function offsetMinutes(p: usize, end: usize): i32 {
  if (p === end) return 0
  const sign = load<u8>(p)
  if (p + 1 === end && (sign === 90 || sign === 122)) return 0
  if (p + 6 !== end || (sign !== 43 && sign !== 45) || load<u8>(p + 3) !== 58) return 10000
  const hours = two(p + 1)
  const minutes = two(p + 4)
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return 10000
  return sign === 45 ? -(hours * 60 + minutes) : hours * 60 + minutes
}

/** Microseconds since 1970 of `YYYY-MM-DDThh:mm:ss[.f][Z|±hh:mm]`, `noTime` for every other spelling and before 1970. */
export function timeField(item: usize, field: i32): i64 {
  if (!isBareText(item, field)) return noTime
  const from = startOf(item, field) + 1
  const end = endOf(item, field) - 1
  if (end - from < 19) return noTime
  const century = two(from)
  const rest = two(from + 2)
  const month = two(from + 5)
  const day = two(from + 8)
  const hour = two(from + 11)
  const minute = two(from + 14)
  const second = two(from + 17)
  if (century < 0 || rest < 0 || load<u8>(from + 4) !== 45 || load<u8>(from + 7) !== 45) return noTime
  const year = century * 100 + rest
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return noTime
  const separator = load<u8>(from + 10)
  if ((separator !== 84 && separator !== 32) || load<u8>(from + 13) !== 58 || load<u8>(from + 16) !== 58) return noTime
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return noTime
  let p = from + 19
  let micros = 0
  if (p < end && load<u8>(p) === 46) {
    p++
    if (!isDigit(load<u8>(p))) return noTime
    for (let unit = 100000; isDigit(load<u8>(p)); unit /= 10) micros += (<i32>load<u8>(p++) - 48) * unit
  }
  const offset = offsetMinutes(p, end)
  if (offset === 10000) return noTime
  const seconds = <i64>daysFromCivil(year, month, day) * 86400 + hour * 3600 + (minute - offset) * 60 + second
  return seconds * 1000000 + micros
}

/** A whole number of at most 15 digits, -1 when the value is another one. */
function countOf(start: usize, end: usize): i64 {
  if (end - start > 15) return -1
  let value: i64 = 0
  for (let p = start; p < end; p++) {
    const c = load<u8>(p)
    if (!isDigit(c)) return -1
    value = value * 10 + c - 48
  }
  return value
}

/** The member that `nextMember` has found: the bytes of its name, the number of it among those of a summary, its value. */
let keyStart: usize = 0
let keyStop: usize = 0
let memberName: i32 = 0
let valueStart: usize = 0
let valueEnd: usize = 0

/** The next member of an object that was passed over before: 1, 0 at the end, -1 when its name has escapes. */
function nextMember(from: usize): i32 {
  let p = passSpace(from)
  const c = load<u8>(p)
  if (c === 125) {
    valueEnd = p + 1
    return 0
  }
  if (c === 44) p = passSpace(p + 1)
  keyStart = p + 1
  keyStop = keyEnd(keyStart)
  if (keyStop === 0) return -1
  memberName = nameOf(keyStart, keyStop) - summaryNames
  valueStart = passSpace(passSpace(keyStop + 1) + 1)
  valueEnd = passValue(valueStart, summaryDepth, 0)
  return valueEnd === 0 ? -1 : 1
}

/** The column of a count: prompt, input; completion, output; requests; total; cache creation, cache read. */
function columnOf(count: i32): i32 {
  if (count < 4) return count < 2 ? 1 : 2
  if (count < 6) return count === 4 ? 0 : 3
  return count === 6 ? 5 : 4
}

/** Whether input, output or total are none by the names that are looked for. */
function lacksTokens(entry: usize): bool {
  const input = load<i64>(entry + 8 + columnOf(0) * 8)
  const output = load<i64>(entry + 8 + columnOf(2) * 8)
  return input === 0 || output === 0 || load<i64>(entry + 8 + columnOf(5) * 8) === 0
}

/** Adds the counts of one model; false when one is written in an unusual way, or a number of another name may be tokens. */
function readCounts(object: usize, entry: usize): bool {
  let seen = 0
  let hasOthers = false
  let p = object + 1
  while (true) {
    const next = nextMember(p)
    if (next <= 0) {
      return next === 0 && !(hasOthers && lacksTokens(entry))
    }
    p = valueEnd
    const n = memberName - 2
    if (n < 0 || n >= countNames) {
      const c = load<u8>(valueStart)
      if (isDigit(c) || c === 45) hasOthers = true
      continue
    }
    if (seen & (1 << n)) return false
    seen |= 1 << n
    const count = load<u8>(valueStart) === 110 ? 0 : countOf(valueStart, valueEnd)
    if (count < 0) return false
    const at = entry + 8 + columnOf(n) * 8
    store<i64>(at, load<i64>(at) + count)
  }
}

function readUsage(object: usize, first: i32): bool {
  let p = object + 1
  while (true) {
    const next = nextMember(p)
    if (next <= 0) return next === 0
    p = valueEnd
    const start = keyStart
    const end = keyStop
    // Members with numbers for names come first in an object of JavaScript.
    if (isDigit(load<u8>(start)) || load<u8>(valueStart) !== 123 || usageCount === maxUsage) return false
    for (let n = first; n < usageCount; n++) {
      const other = <usize>load<u32>(usage + n * usageBytes)
      const size = <usize>load<u32>(usage + n * usageBytes + 4) - other
      if (size === end - start && isSame(other, start, size)) return false
    }
    if (usageCount - first === 64) return false
    const entry = usage + usageCount * usageBytes
    memory.fill(entry, 0, usageBytes)
    store<u32>(entry, <u32>start)
    store<u32>(entry + 4, <u32>end)
    usageCount++
    if (!readCounts(valueStart, entry)) return false
  }
}

function readStatuses(item: usize, object: usize): bool {
  let seen = 0
  let p = object + 1
  while (true) {
    const next = nextMember(p)
    if (next <= 0) return next === 0
    p = valueEnd
    const n = memberName - 2 - countNames
    if (n < 0 || seen & (1 << n)) return false
    seen |= 1 << n
    const count = countOf(valueStart, valueEnd)
    if (count < 0) return false
    if (n === 0) store<u32>(item + itemErrors, <u32>min(count, 0xffffffff))
  }
}

/** Reads what is counted in a summary; false when some of it is written in an unusual way. */
export function readSummary(item: usize, object: usize): bool {
  let seen = 0
  let p = object + 1
  const first = usageCount
  store<i32>(item + itemUsage, first)
  while (true) {
    const next = nextMember(p)
    if (next <= 0) {
      store<i32>(item + itemUsage + 4, usageCount)
      return next === 0
    }
    p = valueEnd
    const n = memberName
    if (n !== 0 && n !== 1) continue
    if (seen & (1 << n) || load<u8>(valueStart) !== 123) return false
    seen |= 1 << n
    if (n === 0 ? !readUsage(valueStart, first) : !readStatuses(item, valueStart)) return false
  }
}
