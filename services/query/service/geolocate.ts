// Country of an address, from the operator's file of address ranges.
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

type Range = { index: number; version: 4 | 6; first: bigint; last: bigint; countryCode: string; countryName: string }

export type GeoRanges = {
  /** The range that holds the address; undefined when none does, or when there is no file. */
  locate(ip: string): Range | undefined
  /** JSON text of the answer: ends of IPv6 ranges are integers beyond what a number holds. */
  answer(ip: string, location: Range | undefined, allowed: boolean): string
}

const maxV4 = 0xffffffffn

/** The address as an integer; an IPv4 address mapped into IPv6 counts as IPv4. Undefined for anything else. */
function addressNumber(text: string): { version: 4 | 6; value: bigint } | undefined {
  const bare = text.split('%', 1)[0] as string
  const version = isIP(bare)
  if (version === 4) return { version, value: bare.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n) }
  if (version !== 6) return undefined
  // An address that ends in dotted form has its last 32 bits there.
  const dotted = /(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(bare)
  const low = dotted === null ? undefined : (addressNumber(dotted[2] as string)?.value ?? 0n)
  const hex = low === undefined ? bare : `${dotted?.[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`
  const [head = '', tail] = hex.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...front, ...new Array<string>(8 - front.length - back.length).fill('0'), ...back]
  const value = groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n)
  return value >> 32n === 0xffffn ? { version: 4, value: value & maxV4 } : { version: 6, value }
}

function addressText(version: 4 | 6, value: bigint): string {
  const parts = (count: number, bits: bigint, base: number) =>
    Array.from({ length: count }, (_, at) =>
      ((value >> (bits * BigInt(count - 1 - at))) & ((1n << bits) - 1n)).toString(base),
    )
  return version === 4 ? parts(4, 8n, 10).join('.') : parts(8, 16n, 16).join(':')
}

/** Fields of a CSV line; quotes are optional, and a doubled one stands for itself. */
const csvFields = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    (quoted?.replaceAll('""', '"') ?? plain ?? '').trim(),
  )

function bound(field: string): { version: 4 | 6; value: bigint } | undefined {
  if (!/^\d{1,39}$/.test(field)) return addressNumber(field)
  const value = BigInt(field)
  return { version: value <= maxV4 ? 4 : 6, value }
}

function parseRange(line: string, index: number): Range {
  const [start = '', end = '', countryCode = '', countryName = ''] = csvFields(line)
  const first = bound(start)
  const last = bound(end)
  if (first === undefined || last === undefined || first.version !== last.version || first.value > last.value)
    throw new Error(`line ${index + 1} does not start with the first and last address of a range`)
  return {
    index,
    version: first.version,
    first: first.value,
    last: last.value,
    countryCode: countryCode.toUpperCase(),
    countryName,
  }
}

/** Index of the last range that begins at or before the value; -1 when there is none. */
function lastAtOrBefore(ranges: readonly Range[], value: bigint): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle] as Range).first <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

/**
 * Reads a CSV file `first,last,country code,country name`; the ends are addresses or integers, ranges do not overlap.
 * Throws with the line that is malformed.
 */
export function openGeoRanges(path: string | undefined): GeoRanges {
  const lines = path === undefined ? [] : readFileSync(path, 'utf8').split(/\r?\n/)
  const ranges = lines
    .map((line, index) => (line.trim() === '' || line.startsWith('#') ? undefined : parseRange(line, index)))
    .filter((range) => range !== undefined)
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
  const of = { 4: ranges.filter((range) => range.version === 4), 6: ranges.filter((range) => range.version === 6) }
  return {
    locate(ip) {
      const address = addressNumber(ip)
      if (address === undefined) return undefined
      const candidates = of[address.version]
      const found = candidates[lastAtOrBefore(candidates, address.value)]
      return found !== undefined && found.last >= address.value ? found : undefined
    },
    answer(ip, range, allowed) {
      if (range === undefined) return JSON.stringify({ ip, location: null, allowed })
      const texts = {
        range_start_ip: addressText(range.version, range.first),
        range_end_ip: addressText(range.version, range.last),
        country_code: range.countryCode,
        country_name: range.countryName,
      }
      const numbers = `"file_index":${range.index},"range_start_int":${range.first},"range_end_int":${range.last}`
      const location = `{${numbers},${JSON.stringify(texts).slice(1)}`
      return `{"ip":${JSON.stringify(ip)},"location":${location},"allowed":${allowed}}`
    },
  }
}
