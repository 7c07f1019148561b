// Finds the settings that differ from those of the previous start, for the audit log: by names, never by values.
import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Audit } from '../core/audit/audit.ts'
import { type Config, settings } from './config.ts'

/** Values as their HMAC: short ones are not to be had by guessing without the file. */
type Known = { salt: string; settings: Record<string, string> }

const fileName = 'settings.json'
/** So many names fit the details of an event. */
const namesPerEvent = 40

/** Values of the given settings; defaults may differ from machine to machine. */
function valuesOf(config: Config): [name: string, value: string][] {
  const values: Record<string, unknown> = config
  const given = settings.filter(({ key }) => config.given.has(key))
  return [
    ...given.map(({ key, env }): [string, string] => [env, JSON.stringify(values[key]) ?? '']),
    ...Object.entries(config.secrets).map(([name, value]): [string, string] => [`CALLHOUSE_SECRET_${name}`, value]),
  ]
}

function readKnown(path: string): Known {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Known
  } catch {
    // The first start, or a file that somebody broke: all that are given count as changed.
    return { salt: randomBytes(32).toString('base64'), settings: {} }
  }
}

/** Records the names of settings that were given, changed or taken away since the start before. */
export async function recordSettings(audit: Pick<Audit, 'record'>, config: Config, role: string): Promise<void> {
  const path = join(config.dataDir, fileName)
  const known = readKnown(path)
  const sealed = (value: string) => createHmac('sha256', known.salt).update(value).digest('base64')
  const now = Object.fromEntries(valuesOf(config).map(([name, value]) => [name, sealed(value)]))
  const names = [...new Set([...Object.keys(known.settings), ...Object.keys(now)])]
    .filter((name) => known.settings[name] !== now[name])
    .sort()
  if (names.length === 0) return
  for (let at = 0; at < names.length; at += namesPerEvent) {
    const details = { role, names: names.slice(at, at + namesPerEvent) }
    await audit.record({ action: 'setting.changed', scope: '*', details })
  }
  writeFileSync(`${path}.tmp`, JSON.stringify({ salt: known.salt, settings: now }), { mode: 0o600 })
  renameSync(`${path}.tmp`, path)
}
