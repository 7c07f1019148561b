// The key that everything sealed by this installation comes from, and keys derived from it.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Name of the file in the data folder, where no key is set. */
export const masterKeyFile = 'master.key'

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

export const isMasterKey = (text: string): boolean =>
  /^[A-Za-z0-9+/_-]{43}=?$/.test(text) && Buffer.from(text, 'base64').length === keyBytes

export type MasterKeySettings = { masterKey: string; masterKeyFile: string | undefined; dataDir: string }

function readKey(path: string): Buffer {
  const text = readFileSync(path, 'utf8').trim()
  if (!isMasterKey(text)) throw new Error(`${path} must hold 32 bytes in base64`)
  return Buffer.from(text, 'base64')
}

/** Two processes that begin at one time must not make two keys: the link fails for the second one. */
function makeKey(path: string): Buffer {
  const fresh = `${path}.${process.pid}`
  writeFileSync(fresh, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(fresh, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(fresh, { force: true })
  }
  return readKey(path)
}

/**
 * The master key when it is asked for; made in the data folder where that belongs to one process alone.
 * @returns undefined where it has to be set and is not
 * @throws Error that names the file when it cannot be used
 */
export function openMasterKey(
  { masterKey, masterKeyFile: given, dataDir }: MasterKeySettings,
  { mayMake }: { mayMake: boolean },
): () => Buffer | undefined {
  if (masterKey !== '') return () => Buffer.from(masterKey, 'base64')
  let read: Buffer | undefined = given === undefined ? undefined : readKey(given)
  const path = join(dataDir, masterKeyFile)
  return () => {
    if (read !== undefined || !mayMake) return read
    try {
      read = readKey(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      read = makeKey(path)
    }
    return read
  }
}

export type Seal = { seal(text: string): string; open(sealed: string): string | undefined }

/**
 * AES-256-GCM under a key derived by HKDF-SHA-256, with a random nonce before the text and the tag behind it.
 * @param about what is sealed with it opens with the same text only
 */
export function sealWith(master: Buffer, label: string, about = ''): Seal {
  // Handed over once: with its bytes each cipher begins anew, which takes four times as long as the rest.
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), label, keyBytes)))
  const aad = Buffer.from(about)
  return {
    seal(text) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad)
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      )
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < nonceBytes + tagBytes) return undefined
      const end = bytes.length - tagBytes
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
      decipher.setAAD(aad).setAuthTag(bytes.subarray(end))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]).toString('utf8')
      } catch {
        // Sealed by another key, or changed.
        return undefined
      }
    },
  }
}
