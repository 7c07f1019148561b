// Builds the web page into services/web/dist: installs what that needs where it is missing, packs the files, and puts
// the whole build in place by a rename. `--watch` builds again on each change.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'
import { distFolder, pageInstall, sourceDigest, sourceFolder } from './page-stamp.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, distFolder)
const fresh = `${dist}.new`
const say = (line: string): void => void process.stderr.write(`callhouse: ${line}\n`)

/**
 * Installs the versions of the lock file in the project's own folder: none of them runs scripts, and the server needs
 * none.
 */
function installMissing(): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { names, paths } = pageInstall(packages)
  const isThere = (path: string) => packages[path].optional || existsSync(join(root, path, 'package.json'))
  if ([...paths].every(isThere)) return
  say('installing what builds the page (once, beside the server)')
  const options = ['--no-save', '--save-prod', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status } = spawnSync(npm, ['install', ...options, '--loglevel=error', ...names], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error('npm could not install what builds the page')
}

/** Level 11 costs a second at the build and nothing at any request. */
function pack(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!['.js', '.css', '.svg'].includes(extname(name))) continue
    const bytes = readFileSync(join(folder, name))
    const params = { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

async function build(): Promise<void> {
  const startedMs = performance.now()
  const digest = sourceDigest(root)
  if (digest === undefined) return say('there are no sources of the page here')
  installMissing()
  // Whatever starts the build, tests included: otherwise React's development build is mixed in.
  process.env.NODE_ENV = 'production'
  const { build: bundle } = await import('vite')
  rmSync(fresh, { recursive: true, force: true })
  await bundle({
    root: join(root, sourceFolder),
    configFile: join(root, sourceFolder, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: fresh },
  })
  pack(join(fresh, 'assets'))
  writeFileSync(join(fresh, 'stamp.json'), JSON.stringify({ digest }))
  rmSync(`${dist}.old`, { recursive: true, force: true })
  if (existsSync(dist)) renameSync(dist, `${dist}.old`)
  renameSync(fresh, dist)
  rmSync(`${dist}.old`, { recursive: true, force: true })
  rmSync(`${dist}.failed`, { force: true })
  say(`the page is built (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`)
}

async function buildOrTell(): Promise<boolean> {
  try {
    await build()
    return true
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    writeFileSync(`${dist}.failed`, text.split('\n').slice(0, 20).join('\n'))
    say(`the page could not be built: ${text}`)
    return false
  }
}

setPriority(constants.priority.PRIORITY_LOW)
if (!(await buildOrTell())) process.exitCode = 1
if (process.argv.includes('--watch')) {
  let timer: NodeJS.Timeout | undefined
  watch(join(root, sourceFolder), { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => void buildOrTell(), 100)
  })
}
