// The certificate that the settings name.
import { openTls, type Tls } from '../core/http/tls.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Config } from './config.ts'

/** @throws Error with a line when only one of the two files is named, or they cannot be used */
export function tlsOf(
  { tlsCert: certFile, tlsKey: keyFile, tlsClientCa: clientCaFile }: Config,
  logger: Logger,
): Tls | undefined {
  if (certFile === undefined && keyFile === undefined) {
    if (clientCaFile !== undefined)
      throw new Error('CALLHOUSE_TLS_CLIENT_CA needs CALLHOUSE_TLS_CERT and CALLHOUSE_TLS_KEY')
    return undefined
  }
  if (certFile === undefined || keyFile === undefined)
    throw new Error('CALLHOUSE_TLS_CERT and CALLHOUSE_TLS_KEY belong together: only one is set')
  return openTls({
    certFile,
    keyFile,
    clientCaFile,
    onBroken: (reason) => logger.error({ reason }, 'the certificate cannot be used; the one before stays'),
    onRenewed: () => logger.info({ certFile }, 'the certificate was read again'),
  })
}
