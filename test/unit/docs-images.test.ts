// Pictures of the documentation stay small: every clone has them.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('the pictures of docs/images have less than 1 MB together', () => {
  const folder = fileURLToPath(new URL('../../docs/images', import.meta.url))
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)))
  expect(sizes.length).toBeGreaterThan(0)
  expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(1_000_000)
})
