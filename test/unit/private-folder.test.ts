// Users who can enter a data folder, and who can talk to its server.
import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { closeToOthers, openToOthers } from '../../services/core/files/private-folder.ts'
import { askOverSocket, listenForCommands } from '../../services/core/process/control-socket.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-private-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  await mkdir(join(dir, 'log'))
  await writeFile(join(dir, 'keys.json'), '')
  await chmod(join(dir, 'log'), 0o755)
  await chmod(join(dir, 'keys.json'), 0o640)
  await symlink('/etc', join(dir, 'link'))
})

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777

describe('a data folder', () => {
  it('is open where others have a right to it, and then to what it holds', async () => {
    await chmod(dir, 0o711)
    expect(await openToOthers(dir, 'user')).toEqual([
      `${dir} (711)`,
      `${join(dir, 'keys.json')} (640)`,
      `${join(dir, 'log')} (755)`,
    ])
    expect(await openToOthers(dir, 'group')).toEqual([`${dir} (711)`, `${join(dir, 'log')} (755)`])
    await chmod(dir, 0o750)
    expect(await openToOthers(dir, 'group')).toEqual([])
  })

  it('is closed to everybody but its user, or the group where several processes share it', async () => {
    await chmod(dir, 0o2775)
    await closeToOthers(dir, 'group')
    expect(await modeOf(dir)).toBe(0o2770)
    await closeToOthers(dir, 'user')
    expect(await modeOf(dir)).toBe(0o2700)
    expect(await openToOthers(dir, 'user')).toEqual([])
  })

  it('stays as it is where everybody may write, as in /tmp, and is told to be open', async () => {
    await chmod(dir, 0o1777)
    await closeToOthers(dir, 'user')
    expect(await modeOf(dir)).toBe(0o1777)
    expect(await modeOf(join(dir, 'log'))).toBe(0o755)
    expect(await openToOthers(dir, 'user')).toHaveLength(3)
  })
})

it('a command does not talk to a socket that a stranger made where everybody can make one', async () => {
  const long = join(dir, 'x'.repeat(100))
  const { close } = await listenForCommands(long, async () => 'here')
  onTestFinished(close)
  expect(await askOverSocket(long, { command: 'ping', args: [] })).toEqual({ ok: true, result: 'here' })
  vi.spyOn(process, 'geteuid').mockReturnValue(12_345)
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await askOverSocket(long, { command: 'ping', args: [] })).toBeUndefined()
})
