// Pages of the documentation that are written from declarations: a command writes one, and `npm run check` refuses a stale one.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** @param of folder of the declarations */
export function generatedPage(page: string, of: string, command: string, text: () => string) {
  const file = fileURLToPath(new URL(`../${page}`, import.meta.url))
  return {
    write: () => writeFileSync(file, text()),
    faults: () => (readFileSync(file, 'utf8') === text() ? [] : [`${page} is behind ${of}: npm run ${command}`]),
  }
}
