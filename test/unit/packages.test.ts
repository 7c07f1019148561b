// The packages of `npm start`, and those that tests and tools add.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { missingInstall, onDisk } from '../../scripts/packages.mjs'
import { pageInstall } from '../../scripts/page-stamp.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(root + path, 'utf8')

type Package = { version: string; dev?: true; devOptional?: true; optional?: true }
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Package> }
const entries = Object.entries(packages).filter(([path]) => path !== '')
const only = (isWanted: (one: Package) => boolean) => Object.fromEntries(entries.filter(([, one]) => isWanted(one)))

const everything = only(({ optional }) => !optional)
const running = only(({ dev, optional }) => !dev && !optional)
/** The same after a newer version of a package came with the code. */
const older = (present: Record<string, Package>) => ({
  ...present,
  'node_modules/express': { ...(present['node_modules/express'] as Package), version: '0.0.1' },
})

describe('an install', () => {
  it('in a fresh clone has what running needs only, unless tests and tools are asked for', () => {
    expect(missingInstall(packages, undefined, false)).toEqual(['ci', '--omit=dev'])
    expect(missingInstall(packages, undefined, true)).toEqual(['ci', '--include=dev'])
  })

  it('is made once: a start needs nothing more after either of the two', () => {
    expect(missingInstall(packages, running, false)).toBeUndefined()
    expect(missingInstall(packages, everything, false)).toBeUndefined()
    expect(missingInstall(packages, everything, true)).toBeUndefined()
  })

  it('for tests after a start adds to what is there', () => {
    expect(missingInstall(packages, running, true)).toEqual(['install', '--no-save', '--include=dev'])
  })

  it('replaces what has changed and keeps tests and tools where they are', () => {
    expect(missingInstall(packages, older(running), false)).toEqual(['install', '--no-save', '--omit=dev'])
    expect(missingInstall(packages, older(everything), false)).toEqual(['install', '--no-save', '--include=dev'])
  })

  it('does not look at tests and tools when only running is asked for', () => {
    const [path = ''] = entries.find(([, { dev }]) => dev) ?? []
    const { [path]: _, ...rest } = everything
    expect(missingInstall(packages, rest, false)).toBeUndefined()
    expect(missingInstall(packages, rest, true)).toEqual(['install', '--no-save', '--include=dev'])
  })

  it('brings back what npm noted and is not there', () => {
    const path = 'node_modules/was-removed'
    const noted = { ...everything, [path]: { version: '1.0.0' } }
    expect(missingInstall(noted, noted, true)).toBeUndefined()
    expect(missingInstall(noted, onDisk(noted, root), true)).toEqual(['install', '--no-save', '--include=dev'])
    expect(onDisk(noted, root)['node_modules/vitest']).toBeDefined()
  })

  it('does not take what builds the page for tests and tools', () => {
    const { names, paths } = pageInstall(packages)
    expect(names.every((name) => /^[@\w/-]+@\d+\.\d+\.\d+$/.test(name))).toBe(true)
    expect([...paths].filter((path) => path === 'node_modules/react' || path === 'node_modules/vitest')).toEqual([
      'node_modules/react',
    ])
    const ofPage = Object.fromEntries(entries.filter(([path]) => paths.has(path)))
    expect(missingInstall(packages, older({ ...running, ...ofPage }), false)).toEqual([
      'install',
      '--no-save',
      '--omit=dev',
    ])
  })
})

/** Names of packages, with their scope; imports of types need nothing at run time. */
const imports = /^(?:import (?!type )[^']*?|[^'/]*\bimport\()'((?:@[\w-]+\/)?[a-z][\w:.-]*)/gm

it('every import of the server is a dependency, and every dependency is imported by the server', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
  const imported = new Set<string>()
  // Imports of the page are bundled before.
  for (const path of globSync(['services/**/*.ts', 'schemas/**/*.ts', 'scripts/paths.ts'], { cwd: root }))
    if (!path.startsWith('services/web/page/'))
      for (const [, name = ''] of read(path).matchAll(imports)) if (!name.startsWith('node:')) imported.add(name)
  // The Node that runs it all is a package too.
  expect([...imported, 'node'].sort()).toEqual(Object.keys(dependencies).sort())
})
