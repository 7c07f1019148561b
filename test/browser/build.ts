// Builds the page once before its tests, when its sources have changed.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { needsBuild } from '../../scripts/page-stamp.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

export function setup(): void {
  if (needsBuild(root)) execFileSync(process.execPath, ['scripts/build-page.ts'], { cwd: root, stdio: 'inherit' })
}
