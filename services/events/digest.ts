// Content digests of objects, table rows, files and tables (specification: objects, section 1).
import { createHash, type Hash, hash } from 'node:crypto'
import { canonicalJson } from '../core/json/canonical.ts'

/** URL-safe base64 of a SHA-256 in the 62-letter alphabet: `-` becomes X, `_` becomes Y. Lossy; never decoded. */
const toAlphabet = (base64url: string): string => base64url.replaceAll('-', 'X').replaceAll('_', 'Y')

/** Digest of a file: 43 characters. */
export const fileDigest = (bytes: Uint8Array): string => toAlphabet(hash('sha256', bytes, 'base64url'))

export type StreamingDigest = { update(bytes: Uint8Array): void; digest(): string }

/** Digest of a file whose bytes come one after the other. */
export function createFileDigest(): StreamingDigest {
  const sha: Hash = createHash('sha256')
  return { update: (bytes) => void sha.update(bytes), digest: () => toAlphabet(sha.digest('base64url')) }
}

/** Digest of canonical JSON text, which is ASCII: an object value or a table row. */
export const canonicalDigest = (canonical: string): string => toAlphabet(hash('sha256', canonical, 'base64url'))

/** Digest of an object value or a table row, from its JSON text as sent. */
export const valueDigest = (jsonText: string): string => canonicalDigest(canonicalJson(jsonText))

/** Digest of a table from the digests of its rows, in order, one part of the list after the other: 64 hex digits. */
export function createTableDigest(): { update(rowDigests: readonly string[]): void; digest(): string } {
  const sha: Hash = createHash('sha256')
  return { update: (rowDigests) => void sha.update(rowDigests.join('')), digest: () => sha.digest('hex') }
}

/** The same of a whole list. */
export function tableDigest(rowDigests: readonly string[]): string {
  const table = createTableDigest()
  table.update(rowDigests)
  return table.digest()
}

/** True for what looks like a content digest rather than a version or alias name. */
export const isContentHash = (text: string): boolean => /^(?:[A-Za-z0-9]{43}|[0-9a-fA-F]{64})$/.test(text)
