// Whether the built page is that of the sources. Plain JavaScript without dependencies, for any Node from 18 on.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Packages that a build needs, by name; their versions are those of package-lock.json. */
export const pagePackages = ['@tanstack/react-query', '@tanstack/react-router', 'diff', 'react', 'react-dom', 'vite']

export const sourceFolder = join('services', 'web', 'page')
export const distFolder = join('services', 'web', 'dist')

const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesBelow(path) : [path]
    })

/** Digest of everything that a build is made from; undefined where there are no sources. */
export function sourceDigest(root) {
  const page = join(root, sourceFolder)
  if (!existsSync(page)) return undefined
  const digest = createHash('sha256')
  for (const path of [...filesBelow(page), ...filesBelow(join(root, 'schemas')), join(root, 'package-lock.json')]) {
    digest.update(path.slice(root.length)).update('\0').update(readFileSync(path))
  }
  return digest.digest('hex')
}

/** True when sources are there and the build is missing or that of other sources. */
export function needsBuild(root) {
  const digest = sourceDigest(root)
  if (digest === undefined) return false
  try {
    return JSON.parse(readFileSync(join(root, distFolder, 'stamp.json'), 'utf8')).digest !== digest
  } catch {
    return true
  }
}

/** `name@version` of the packages that a build needs, and which of all packages of the lock file they bring along. */
export function pageInstall(locked) {
  const names = pagePackages.map((name) => `${name}@${locked[`node_modules/${name}`].version}`)
  const paths = new Set()
  const add = (name, from) => {
    let folder = from
    let path = `${folder}node_modules/${name}`
    while (!locked[path] && folder !== '') {
      folder = folder.slice(0, folder.lastIndexOf('node_modules/'))
      path = `${folder}node_modules/${name}`
    }
    if (!locked[path] || paths.has(path)) return
    paths.add(path)
    const { dependencies = {}, optionalDependencies = {} } = locked[path]
    for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) add(one, `${path}/`)
  }
  for (const name of pagePackages) add(name, '')
  return { names, paths }
}
