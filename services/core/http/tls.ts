// TLS of the server's own ports: certificate and key from files, which are read again when they change.
import { readFileSync, type StatWatcher, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext, type SecureContextOptions, type TlsOptions, type Server as TlsServer } from 'node:tls'

/** @property clientCaFile authorities whose certificates every client must have */
type TlsFiles = { certFile: string; keyFile: string; clientCaFile?: string | undefined }

export type Tls = {
  /** The options of a server. */
  options(): SecureContextOptions & Pick<TlsOptions, 'requestCert' | 'rejectUnauthorized'>
  /** Gives a server each certificate that comes later. */
  renews(server: Pick<TlsServer, 'setSecureContext'>): void
  close(): void
}

type TlsDeps = TlsFiles & {
  /** New files cannot be used: those before stay. */
  onBroken(reason: string): void
  onRenewed(): void
  /** Interval between looks at the files. */
  pollMs?: number
}

/** @throws Error with a line for the operator when the files cannot be used from the start */
export function openTls({ certFile, keyFile, clientCaFile, onBroken, onRenewed, pollMs = 5_000 }: TlsDeps): Tls {
  const files = [certFile, keyFile, ...(clientCaFile === undefined ? [] : [clientCaFile])]
  const read = (): SecureContextOptions => {
    try {
      const options = {
        cert: readFileSync(certFile),
        key: readFileSync(keyFile),
        minVersion: 'TLSv1.2' as const,
        ...(clientCaFile !== undefined && { ca: readFileSync(clientCaFile) }),
      }
      // Says whether they belong together.
      createSecureContext(options)
      return options
    } catch (error) {
      throw new Error(`TLS with ${files.join(', ')}: ${(error as Error).message}`)
    }
  }
  let options = read()
  const servers = new Set<Pick<TlsServer, 'setSecureContext'>>()
  const look = (): void => {
    try {
      const found = read()
      if ((['cert', 'key', 'ca'] as const).every((one) => String(options[one]) === String(found[one]))) return
      options = found
      for (const server of servers) server.setSecureContext(options)
      onRenewed()
    } catch (error) {
      // Two files that are replaced come one after the other.
      onBroken((error as Error).message)
    }
  }
  const watched: StatWatcher[] = files.map((file) => watchFile(file, { interval: pollMs, persistent: false }, look))
  for (const one of watched) one.unref()
  return {
    options: () => ({ ...options, ...(clientCaFile !== undefined && { requestCert: true, rejectUnauthorized: true }) }),
    renews: (server) => void servers.add(server),
    close() {
      for (const file of files) unwatchFile(file, look)
    },
  }
}
