// Gives the engine a path to a segment that its file() function takes literally.
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** file() expands braces and wildcards and treats `::` as an archive; these characters it takes as they are. */
const literal = /^[A-Za-z0-9_./-]+$/

export type EnginePath = {
  of(file: string): string
  close(): Promise<void>
}

/** A folder whose path holds other characters is reached through a link in a folder that only this user can enter. */
export async function createEnginePath(folder: string): Promise<EnginePath> {
  if (literal.test(folder)) return { of: (file) => file, close: async () => {} }
  const links = await mkdtemp(join(tmpdir(), 'callhouse-log-'))
  const link = join(links, 'segments')
  if (!literal.test(link)) {
    await rm(links, { recursive: true })
    throw new Error(`Neither ${folder} nor ${tmpdir()} can be given to the engine: use letters, digits, _ . / - only`)
  }
  await symlink(folder, link)
  return {
    of: (file) => join(link, basename(file)),
    close: () => rm(links, { recursive: true, force: true }),
  }
}
