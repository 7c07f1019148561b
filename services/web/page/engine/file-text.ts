// Text of a file in the encoding that it was written in: UTF-8, UTF-16 and UTF-32 with or without a mark, else Windows-1252.

/** Marks, of which the longer ones begin like shorter ones. */
const marks: [encoding: string, bytes: number[]][] = [
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Bytes that tell of an encoding without a mark. */
const sampleBytes = 4_096

/** UTF-16 by its zeros: those of letters of ASCII stand all on one side. */
function byZeros(bytes: Uint8Array): string | undefined {
  if (bytes.length % 2 === 1) return undefined
  const sample = bytes.subarray(0, sampleBytes)
  const zeros = [0, 0]
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] as number) + 1
  const [even = 0, odd = 0] = zeros
  const many = sample.length / 8
  if (odd > many && even * 10 < odd) return 'utf-16le'
  return even > many && odd * 10 < even ? 'utf-16be' : undefined
}

function fromUtf32(bytes: Uint8Array, isLittle: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const pieces: string[] = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = view.getUint32(at, isLittle)
    pieces.push(point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd')
  }
  return pieces.join('')
}

/** The text without its mark. */
export function fileText(bytes: Uint8Array): string {
  const marked = marks.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))
  const encoding = marked?.[0] ?? byZeros(bytes)
  const rest = bytes.subarray(marked?.[1].length ?? 0)
  if (encoding?.startsWith('utf-32')) return fromUtf32(rest, encoding === 'utf-32le')
  if (encoding !== undefined) return new TextDecoder(encoding).decode(rest)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(rest)
  } catch {
    return new TextDecoder('windows-1252').decode(rest)
  }
}
