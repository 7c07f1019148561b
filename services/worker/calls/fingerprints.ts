// A set of fingerprints of texts in bounded memory: it may hold a text that was never added, and never lacks one that was.

export type Fingerprint = { place: number; print: number }

export type Fingerprints = {
  /** Adds one that is not there; false when there is no room left. */
  add(fingerprint: Fingerprint): boolean
  has(fingerprint: Fingerprint): boolean
}

const firstSlots = 2 ** 18
/** 32 bits per slot: 512 MiB, for 100 million calls; only as many as are needed are there. */
const maxSlotsTogether = 2 ** 27
/** Above it look-ups go through many slots. */
const maxFilled = 0.75

type Layer = { slots: Uint32Array; left: number }

/**
 * Layers, each twice as large as the one before, with open addressing. A text that was never added is found in less
 * than one of 100 million cases per layer.
 * @param maxSlots of all layers
 */
export function createFingerprints(maxSlots = maxSlotsTogether): Fingerprints {
  const layers: Layer[] = []
  let slotsTogether = 0

  const grow = (): Layer | undefined => {
    const slots = firstSlots * 2 ** layers.length
    if (slotsTogether + slots > maxSlots) return undefined
    slotsTogether += slots
    const layer = { slots: new Uint32Array(slots), left: Math.floor(slots * maxFilled) }
    layers.push(layer)
    return layer
  }
  /** The slot that holds the fingerprint, or the empty one where it belongs. */
  const slotOf = (slots: Uint32Array, { place, print }: Fingerprint): number => {
    const mask = slots.length - 1
    let at = place & mask
    while (slots[at] !== 0 && slots[at] !== print) at = (at + 1) & mask
    return at
  }
  const has = (fingerprint: Fingerprint): boolean => layers.some(({ slots }) => slots[slotOf(slots, fingerprint)] !== 0)

  return {
    has,
    add(fingerprint) {
      let layer = layers.at(-1)
      if (layer === undefined || layer.left === 0) layer = grow()
      if (layer === undefined) return false
      layer.slots[slotOf(layer.slots, fingerprint)] = fingerprint.print
      layer.left--
      return true
    },
  }
}

/** As `murmurHash3_32` and `murmurHash2_32` of the engine give them. */
export const fingerprintFrom = (hash3: number, hash2: number): Fingerprint => ({
  place: hash3,
  print: hash2 >>> 0 || 1,
})

const mixed3 = (word: number): number => {
  const k = Math.imul(word, 0xcc9e2d51)
  return Math.imul((k << 15) | (k >>> 17), 0x1b873593)
}
const factor2 = 0x5bd1e995

/**
 * MurmurHash3_x86_32 and MurmurHash2 with the seed 0 (github.com/aappleby/smhasher), in one pass.
 * @param bytes one per character
 */
export function fingerprintOf(bytes: string): Fingerprint {
  const { length } = bytes
  let hash3 = 0
  let hash2 = length
  let i = 0
  for (; i + 4 <= length; i += 4) {
    const word =
      bytes.charCodeAt(i) |
      (bytes.charCodeAt(i + 1) << 8) |
      (bytes.charCodeAt(i + 2) << 16) |
      (bytes.charCodeAt(i + 3) << 24)
    hash3 ^= mixed3(word)
    hash3 = (Math.imul((hash3 << 13) | (hash3 >>> 19), 5) + 0xe6546b64) | 0
    let k = Math.imul(word, factor2)
    k = Math.imul(k ^ (k >>> 24), factor2)
    hash2 = Math.imul(hash2, factor2) ^ k
  }
  let tail = 0
  for (let shift = 0; i < length; i++, shift += 8) tail |= bytes.charCodeAt(i) << shift
  if (length % 4 !== 0) {
    hash3 ^= mixed3(tail)
    hash2 = Math.imul(hash2 ^ tail, factor2)
  }
  hash3 ^= length
  hash3 = Math.imul(hash3 ^ (hash3 >>> 16), 0x85ebca6b)
  hash3 = Math.imul(hash3 ^ (hash3 >>> 13), 0xc2b2ae35)
  hash2 = Math.imul(hash2 ^ (hash2 >>> 13), factor2)
  return fingerprintFrom(hash3 ^ (hash3 >>> 16), hash2 ^ (hash2 >>> 15))
}
