// Programs that tests need beside Node: whether they are there, and the tests that are left out without them.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Part, Smoke } from './tiers.ts'

const { PATH = '', CALLHOUSE_CHROMIUM = '', KAFKA_BROKERS } = process.env

const inPath = (...names: string[]): string | undefined =>
  names.flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name))).find((path) => existsSync(path))

/** The browser that CALLHOUSE_CHROMIUM names, or one in the path. */
export const chromiumPath = (): string | undefined =>
  [CALLHOUSE_CHROMIUM, inPath('chromium', 'chromium-browser', 'google-chrome') ?? ''].find(
    (path) => path !== '' && existsSync(path),
  )

const python = { what: 'Python 3 (python3 in the path)', isThere: () => inPath('python3') !== undefined }
const chromium = { what: 'Chromium (in the path, or CALLHOUSE_CHROMIUM)', isThere: () => chromiumPath() !== undefined }
const java = {
  what: 'Java and Maven (java and mvn in the path), Docker, or KAFKA_BROKERS',
  isThere: () => Boolean(KAFKA_BROKERS || inPath('docker') || (inPath('java') && inPath('mvn'))),
}
const compilers = {
  what: 'Go and Rust (go and cargo in the path)',
  isThere: () => Boolean(inPath('go') && inPath('cargo')),
}

const needs: Partial<Record<Smoke | Part, (typeof python)[]>> = {
  python: [python],
  page: [chromium],
  kafka: [java],
  browser: [chromium, java],
  compat: [python, java, compilers],
}

/** Missing programs of a smoke test or of a part of the deep tier; empty when all are there. */
export const missingFor = (name: Smoke | Part): string[] =>
  (needs[name] ?? []).filter(({ isThere }) => !isThere()).map(({ what }) => what)
