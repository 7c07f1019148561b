// tier: deep kafka
// Brokers that ask for a password and for TLS: settings reach the client, and what is refused is said.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../services/app/config.ts'
import { openLog, surveyLog } from '../../services/app/drivers.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { type Broker, startBroker } from '../fixtures/kafka-broker.ts'
import { applyRows, recordOf } from '../fixtures/log.ts'

let broker: Broker
const dir = mkdtempSync(join(tmpdir(), 'callhouse-kafka-access-'))
const trusted = getCACertificates('default')
const { log: logger } = createLogger({ level: 'silent' })

/** As one line of a file of properties. */
const line = (name: string): string => readFileSync(join(dir, name), 'utf8').trimEnd().replaceAll('\n', '\\n')

beforeAll(async () => {
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
    stdio: 'ignore',
  })
  const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_app="the-password";'
  broker = await startBroker({
    listeners: ['PASSWORD', 'BOTH'],
    settings: {
      'listener.security.protocol.map': 'PASSWORD:SASL_PLAINTEXT,BOTH:SASL_SSL',
      'listener.name.password.sasl.enabled.mechanisms': 'PLAIN',
      'listener.name.both.sasl.enabled.mechanisms': 'PLAIN',
      'listener.name.password.plain.sasl.jaas.config': login,
      'listener.name.both.plain.sasl.jaas.config': login,
      'listener.name.both.ssl.keystore.type': 'PEM',
      'listener.name.both.ssl.keystore.key': line('key.pem'),
      'listener.name.both.ssl.keystore.certificate.chain': line('cert.pem'),
      'listener.name.both.ssl.client.auth': 'none',
    },
  })
})
afterAll(async () => {
  setDefaultCACertificates(trusted)
  await broker?.dispose()
  rmSync(dir, { recursive: true, force: true })
})

const configOf = (listener: 'PASSWORD' | 'BOTH', ...flags: string[]) => {
  const brokers = `127.0.0.1:${broker.ports[listener]}`
  const common = ['--data-dir', dir, '--kafka-brokers', brokers, '--kafka-partitions', '1']
  const loaded = loadConfig({ env: {}, argv: [...common, ...flags] })
  if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
  return loaded.config
}
const login = (password: string) => ['--kafka-sasl', 'plain', '--kafka-user', 'app', '--kafka-password', password]

it('logs in with a password', async () => {
  const log = await openLog(configOf('PASSWORD', ...login('the-password')), 'serve', logger)
  await log.append('calls', [recordOf(['a', 'b'])])
  expect((await applyRows(log, 'calls', 2)).ids).toEqual(['a', 'b'])
  await log.close()
})

it('says that a password is wrong, or that one is needed', async () => {
  await expect(surveyLog(configOf('PASSWORD', ...login('another')), logger)).rejects.toThrow(/[Aa]uthentication/)
  await expect(surveyLog(configOf('PASSWORD'), logger)).rejects.toThrow()
})

it('speaks TLS with brokers whose certificate this process trusts, and with no others', async () => {
  const config = configOf('BOTH', '--kafka-tls', 'true', ...login('the-password'))
  await expect(surveyLog(config, logger)).rejects.toThrow(/certificate/)
  // The effect of NODE_EXTRA_CA_CERTS at the start of a process.
  setDefaultCACertificates([...trusted, readFileSync(join(dir, 'cert.pem'), 'utf8')])
  expect(await surveyLog(config, logger)).toMatchObject({ brokers: 1 })
  const log = await openLog(config, 'ingest', logger)
  expect(await log.append('calls', [recordOf(['c'])])).toMatchObject({ topic: 'calls' })
  await log.close()
  // Without TLS the broker of this port does not answer.
  await expect(surveyLog(configOf('BOTH', ...login('the-password')), logger)).rejects.toThrow()
})
