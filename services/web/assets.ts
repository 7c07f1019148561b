// The built page in memory: its shell and its files, packed once; a new build is seen within a second.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

type Encoding = 'br' | 'gzip' | undefined
type Asset = { bytes: Buffer; encoding: Encoding; contentType: string }

export type Assets = {
  /**
   * The shell for pages below a path; until there is a build, a page that waits for it.
   * @param module that a page needs beside the file that the shell starts: both are loaded at once
   */
  shell(basePath: string, module?: string): { html: Buffer; etag: string }
  /** @param acceptEncoding header of the request */
  file(name: string, acceptEncoding: string | undefined): Asset | undefined
}

type Packed = { plain: Buffer; br: Buffer | undefined; gzip: Buffer | undefined; contentType: string }
type Build = { shell: string; manifest: Manifest; files: Map<string, Packed> }
/** Files of modules that begin a chunk, and of files that several share, as vite writes it. */
type Manifest = Record<string, { file: string; imports?: string[]; isEntry?: boolean }>

const contentTypes: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
}
const lookEveryMs = 1_000

const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)

/**
 * Looks again. A refresh by `<meta>` of an address with a fragment, as the printed link is one, only goes to the fragment.
 */
const waitingScript: Packed = {
  plain: Buffer.from('setTimeout(() => location.reload(), 2_000)\n'),
  br: undefined,
  gzip: undefined,
  contentType: contentTypes.js as string,
}
const waitingName = 'waiting-1.js'

const waitingPage = (basePath: string, problem: string | undefined): string => {
  const head = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
  if (problem !== undefined)
    return `${head}<title>Callhouse</title><h1>The page could not be built</h1><p>The interface works without it. What the build said:</p><pre>${escaped(problem)}</pre>`
  return `${head}<script defer src="${basePath}assets/${waitingName}"></script><title>Callhouse</title><h1>The page is being built</h1><p>It opens by itself. The interface works already.</p>`
}

function readBuild(folder: string): Build {
  const files = new Map<string, Packed>()
  const assets = join(folder, 'assets')
  for (const name of readdirSync(assets)) {
    if (/\.(?:br|gz)$/.test(name)) continue
    const packed = (suffix: string) => {
      const path = join(assets, name + suffix)
      return existsSync(path) ? readFileSync(path) : undefined
    }
    const contentType = contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    files.set(name, { plain: readFileSync(join(assets, name)), br: packed('.br'), gzip: packed('.gz'), contentType })
  }
  const names = join(folder, '.vite/manifest.json')
  const manifest = existsSync(names) ? (JSON.parse(readFileSync(names, 'utf8')) as Manifest) : {}
  return { shell: readFileSync(join(folder, 'index.html'), 'utf8'), manifest, files }
}

/** Links to the files of a module and to those that they need, but to the first one. */
function linksTo(module: string, manifest: Manifest): string {
  const links = new Set<string>()
  const seen = new Set<string>()
  const add = (name: string): void => {
    const one = manifest[name]
    if (one === undefined || one.isEntry || seen.has(name)) return
    seen.add(name)
    links.add(`<link rel="modulepreload" crossorigin href="./${one.file}">`)
    one.imports?.forEach(add)
  }
  add(module)
  return [...links].join('')
}

const accepts = (header: string | undefined, encoding: string): boolean =>
  (header ?? '').split(',').some((one) => {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })

/** Folder of the builds of `scripts/build-page.ts`. */
export const builtPage = fileURLToPath(new URL('dist', import.meta.url))

/** @param folder where builds are put whole, by a rename; `<folder>.failed` says why there is none */
export function openAssets(folder: string, now: () => number = Date.now): Assets {
  let build: Build | undefined
  let stamp = ''
  let lookedAt = Number.NEGATIVE_INFINITY
  const shells = new Map<string, { html: Buffer; etag: string }>()

  const look = (): Build | undefined => {
    if (now() - lookedAt < lookEveryMs) return build
    lookedAt = now()
    const stat = statSync(join(folder, 'stamp.json'), { throwIfNoEntry: false })
    const seen = stat === undefined ? '' : `${stat.ino} ${stat.mtimeMs}`
    // Between two builds there is a moment without a folder: the files of the one before are still in memory.
    if (seen === '' || seen === stamp) return build
    try {
      build = readBuild(folder)
      stamp = seen
      shells.clear()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    return build
  }

  return {
    shell(basePath, module = '') {
      const current = look()
      if (current === undefined) {
        const failed = `${folder}.failed`
        const html = Buffer.from(waitingPage(basePath, existsSync(failed) ? readFileSync(failed, 'utf8') : undefined))
        return { html, etag: '' }
      }
      const name = `${module} ${basePath}`
      let made = shells.get(name)
      if (made === undefined) {
        const shell = current.shell
          .replace('<base href="/">', () => `<base href="${basePath}">`)
          .replace('</head>', () => `${linksTo(module, current.manifest)}</head>`)
        const html = Buffer.from(shell)
        made = { html, etag: `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"` }
        // A trusted proxy names the path: a handful of them at most.
        if (shells.size > 40) shells.clear()
        shells.set(name, made)
      }
      return made
    },
    file(name, acceptEncoding) {
      const packed = name === waitingName ? waitingScript : look()?.files.get(name)
      if (packed === undefined) return undefined
      const { plain, br, gzip, contentType } = packed
      if (br && accepts(acceptEncoding, 'br')) return { bytes: br, encoding: 'br', contentType }
      if (gzip && accepts(acceptEncoding, 'gzip')) return { bytes: gzip, encoding: 'gzip', contentType }
      return { bytes: plain, encoding: undefined, contentType }
    },
  }
}
