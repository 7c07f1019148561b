// The keys of an installation: those of the data folder, or those that its processes share over Kafka.
import { existsSync } from 'node:fs'
import type { Audit } from '../core/audit/audit.ts'
import { auditedDirectory } from '../core/directory/audited.ts'
import type { Directory } from '../core/directory/directory.ts'
import { openSharedDirectory } from '../core/directory/shared.ts'
import type { KeyUses } from '../core/http/key-uses.ts'
import { createKeys, type Keys, openDirectory } from '../core/http/keys.ts'
import { keysFileOf, putAside, readKeysFile, takenOver } from '../core/http/keys-file.ts'
import type { Logger } from '../core/process/logger.ts'
import { commandAudit } from './audit.ts'
import type { Config } from './config.ts'
import { hasSharedLog, openItemLog } from './drivers.ts'

type OpenKeys = { keys: Keys; directory: Directory; close(): Promise<void> }

/** Keys of a command, whose changes are audited as such. @throws Error with a line when they cannot be read */
export async function openKeysOf(config: Config, logger: Logger): Promise<OpenKeys> {
  const audit = commandAudit(config, logger)
  const { close, ...opened } = await openKeysWith(config, logger, audit, false)
  return { ...opened, close: () => close().finally(audit.close) }
}

/**
 * @param serves it takes what no longer counts out of the file
 * @throws Error with a line when they cannot be read
 */
export async function openKeysWith(config: Config, logger: Logger, audit: Audit, serves = true): Promise<OpenKeys> {
  const { dataDir, keys: configured, denyKeys: denied, keyMaxDays: maxDays } = config
  const options = { configured, denied, maxDays }
  const callbacks = {
    onBroken: (reason: string) =>
      logger.error({ reason }, 'the file of keys cannot be used; the keys read before stay'),
    onMended: () => logger.info('the file of keys can be used again'),
  }
  if (!hasSharedLog(config)) {
    const directory = auditedDirectory(openDirectory({ dataDir, rewrites: serves, ...callbacks }), audit)
    return { keys: createKeys(directory, options), directory, close: directory.close }
  }
  const path = keysFileOf(dataDir)
  const earlier = readKeysFile(path)
  const log = await openItemLog(config, logger)
  try {
    const shared = await openSharedDirectory({
      log,
      staleMs: config.directoryStaleSeconds * 1000,
      onBroken: (reason) => logger.error({ reason }, 'the directory cannot be read; what was read before counts'),
      onMended: () => logger.info('the directory can be read again'),
    })
    const directory = auditedDirectory(shared, audit)
    if (existsSync(path)) {
      await directory.append(takenOver(directory.state(), earlier), 'keys.json')
      putAside(path)
    }
    const keys = createKeys(directory, { ...options, arrives: directory.arrives })
    return { keys, directory, close: directory.close }
  } catch (error) {
    await log.close()
    throw error
  }
}

const writeUsesMs = 600_000

/** Writes when keys were used, now and at the end. */
export function keepKeyUses(uses: Pick<KeyUses, 'flush'>, logger: Pick<Logger, 'debug'>): { close(): Promise<void> } {
  const write = () =>
    uses.flush().catch((error: unknown) => logger.debug({ error: String(error) }, 'uses of keys were not written'))
  const timer = setInterval(write, writeUsesMs)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await write()
    },
  }
}
