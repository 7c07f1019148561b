// `npm run wasm`: builds the WebAssembly module of the edge anew; it is checked in, so that no start needs the compiler.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../services/ingest/calls/', import.meta.url))
const modulePath = join(folder, 'batch.wasm')

/** Bounds of the linear memory in pages of 64 KiB. */
const memoryPages = { initial: 64, maximum: 384 }

type Compiler = {
  main(argv: string[], io: object): Promise<{ error: Error | null; stderr: { toString(): string } }>
}

/** The module's bytes. @throws with the compiler's messages when it does not compile */
export async function buildBatchModule(): Promise<Buffer> {
  // Not by its name: its types would change those of the whole project.
  const name: string = 'assemblyscript/asc'
  const { default: compiler } = (await import(name)) as { default: Compiler }
  let built: Uint8Array | undefined
  const options = {
    // The compiler adds an ending of its own to what modules import.
    readFile: (name: string) =>
      readFile(join(folder, 'assembly', name.replace(/(\.ts)+$/, '.ts')), 'utf8').catch(() => null),
    writeFile: (_name: string, contents: Uint8Array | string) => {
      if (typeof contents !== 'string') built = contents
    },
    listFiles: () => [],
  }
  const flags = [
    ...['--outFile', 'batch.wasm', '-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--importMemory'],
    ...['--initialMemory', String(memoryPages.initial), '--maximumMemory', String(memoryPages.maximum)],
  ]
  const { error, stderr } = await compiler.main(['index.ts', ...flags], options)
  if (error !== null || built === undefined) throw new Error(`${error?.message ?? 'nothing was built'}\n${stderr}`)
  return Buffer.from(built)
}

if (import.meta.main) await writeFile(modulePath, await buildBatchModule())
