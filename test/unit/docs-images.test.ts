// Pictures of the documentation stay small: every clone has them.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const folder = fileURLToPath(new URL('../../docs/images', import.meta.url))
const pictures = readdirSync(folder).filter((name) => name.endsWith('.png'))

it('there are pictures', () => expect(pictures).toContain('trace-light.png'))

it.each(pictures)('%s has less than 150 kB', (name) => {
  expect(statSync(join(folder, name)).size).toBeLessThan(150_000)
})
