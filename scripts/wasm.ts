// `npm run wasm`: builds the WebAssembly modules anew; they are checked in, so that no start needs the compiler.
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of each module and its sources (`assembly`), and the bounds of its memory in pages of 64 KiB. */
const modules = [
  { path: 'services/ingest/calls/batch.wasm', initial: 64, maximum: 384 },
  { path: 'services/core/json/escaping.wasm', initial: 6, maximum: 6 },
] as const

type Compiler = {
  main(argv: string[], io: object): Promise<{ error: Error | null; stderr: { toString(): string } }>
}

type Module = (typeof modules)[number]

/** Path of a module's file. */
const fileOf = ({ path }: (typeof modules)[number]): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** The module's bytes. @throws with the compiler's messages when it does not compile */
async function build(module: Module): Promise<Buffer> {
  // Not by its name: its types would change those of the whole project.
  const name: string = 'assemblyscript/asc'
  const { default: compiler } = (await import(name)) as { default: Compiler }
  let built: Uint8Array | undefined
  const options = {
    // The compiler adds an ending of its own to what modules import.
    readFile: (name: string) =>
      readFile(join(dirname(fileOf(module)), 'assembly', name.replace(/(\.ts)+$/, '.ts')), 'utf8').catch(() => null),
    writeFile: (_name: string, contents: Uint8Array | string) => {
      if (typeof contents !== 'string') built = contents
    },
    listFiles: () => [],
  }
  const flags = [
    '--outFile',
    'built.wasm',
    '-O3',
    '--noAssert',
    '--runtime',
    'stub',
    '--enable',
    'simd',
    '--importMemory',
    '--initialMemory',
    String(module.initial),
    '--maximumMemory',
    String(module.maximum),
  ]
  const { error, stderr } = await compiler.main(['index.ts', ...flags], options)
  if (error !== null || built === undefined) throw new Error(`${error?.message ?? 'nothing was built'}\n${stderr}`)
  return Buffer.from(built)
}

/** Each module's file and what its sources compile to. */
export const buildModules = (): Promise<{ file: string; built: Buffer }[]> =>
  Promise.all(modules.map(async (module) => ({ file: fileOf(module), built: await build(module) })))

if (import.meta.main) for (const { file, built } of await buildModules()) await writeFile(file, built)
