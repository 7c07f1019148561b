// Service routes: health, version, what SDKs ask first, and where the caller is.
import {
  geolocateResponse,
  healthResponse,
  readyResponse,
  serverInfoResponse,
  versionResponse,
} from '../../../schemas/service.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { GeoRanges } from './geolocate.ts'

type CheckStatus = 'ok' | 'degraded' | 'down'

export type HealthChecks = {
  log: CheckStatus
  storage: CheckStatus
  workers: CheckStatus
  /** Files that operators change while the server runs, and topics on Kafka; only when they are not ok. */
  keys?: CheckStatus
  providers?: CheckStatus
  topics?: CheckStatus
  /** Reasons why a check is not ok. */
  reasons?: { [check in 'log' | 'storage' | 'workers' | 'keys' | 'providers' | 'topics']?: string | undefined }
  /** Age of the oldest accepted write that is not visible yet, in milliseconds. */
  lagMs: number
}

export type ServiceDeps = {
  version: string
  commit?: string
  config: { minPythonVersion: string; geoBlock: readonly string[] }
  geo: GeoRanges
  health(): Promise<HealthChecks>
  /** Without these the process is of no use. Default: both. */
  needs?: readonly ('log' | 'storage')[]
  isShuttingDown(): boolean
}

const nothingWorks: HealthChecks = { log: 'down', storage: 'down', workers: 'down', lagMs: 0 }

export function createServiceRoutes(deps: ServiceDeps): Route[] {
  const { version, commit, config, geo, health, needs = ['log', 'storage'], isShuttingDown } = deps
  const check = async () => {
    const { lagMs, reasons, ...checks } = await health().catch(() => nothingWorks)
    const isDown = needs.some((one) => checks[one] === 'down') || isShuttingDown()
    return { checks, reasons, lagMs, isDown }
  }
  const blocked = new Set(config.geoBlock.map((code) => code.toUpperCase()))
  return [
    route({
      name: 'service.health',
      method: 'GET',
      path: '/health',
      withoutProject: true,
      summary: 'Whether the server can accept writes and answer reads',
      body: { type: 'none' },
      response: healthResponse,
      async handle() {
        const { checks, reasons, lagMs, isDown } = await check()
        const isFine = Object.values(checks).every((check) => check === 'ok')
        const status = isDown ? 'unavailable' : isFine ? 'ok' : 'degraded'
        return {
          status: isDown ? 503 : 200,
          json: { status, checks, ...(isFine ? {} : { reasons }), lag_ms: Math.round(lagMs) },
        }
      },
    }),
    route({
      name: 'service.ready',
      method: 'GET',
      path: '/ready',
      withoutProject: true,
      summary: 'Whether this process is ready for requests: 200 or 503',
      body: { type: 'none' },
      response: readyResponse,
      async handle() {
        const { isDown } = await check()
        return { status: isDown ? 503 : 200, json: { ready: !isDown } }
      },
    }),
    route({
      name: 'service.version',
      method: 'GET',
      path: '/version',
      withoutProject: true,
      summary: 'Version of the server',
      body: { type: 'none' },
      response: versionResponse,
      handle: async () => ({ json: { version, commit } }),
    }),
    route({
      name: 'service.info',
      method: 'GET',
      path: '/server_info',
      withoutProject: true,
      summary: 'Server settings for SDKs',
      body: { type: 'none' },
      response: serverInfoResponse,
      handle: async () => ({
        json: { min_required_weave_python_version: config.minPythonVersion, trace_server_version: version },
      }),
    }),
    route({
      name: 'service.geolocate',
      method: 'GET',
      path: '/geolocate',
      withoutProject: true,
      summary: 'Address and country of the caller; a debugging aid',
      body: { type: 'none' },
      response: geolocateResponse,
      async handle({ clientIp }) {
        const ip = clientIp()
        const location = geo.locate(ip)
        const allowed = location === undefined || !blocked.has(location.countryCode)
        return { jsonText: geo.answer(ip, location, allowed) }
      },
    }),
  ]
}
