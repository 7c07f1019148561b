// The web page's routes: its shell under every path of the page, its files, and links of published SDKs.
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { Fault } from '../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../core/http/route.ts'
import type { Via } from '../core/http/via.ts'
import type { Assets } from './assets.ts'
import { assetHeaders, shellHeaders } from './headers.ts'
import { callPathOf, pagePathOf } from './sdk-links.ts'

const pagePaths = [
  '/sign-in',
  '/p/{entity}/{project}',
  '/p/{entity}/{project}/{path*}',
  '/settings',
  '/settings/{path*}',
  '/system',
]

/**
 * The module of `page/` that shows a path below a project or the settings; undefined where the first file does, as for a
 * list of calls.
 */
function moduleOf(path: string | undefined): string | undefined {
  if (path === undefined || path === 'calls') return undefined
  if (/^(?:calls|traces)\//.test(path)) return 'traces/lazy-route.tsx'
  return path === 'dashboard' ? 'dashboards/lazy-route.tsx' : 'lazy-routes.tsx'
}

type Asked = { basePath: string; module?: string | undefined; ifNoneMatch?: string | undefined; status?: number }

function shellReply(assets: Assets, { basePath, module, ifNoneMatch, status = 200 }: Asked): Reply {
  const { html, etag } = assets.shell(basePath, module)
  const headers = { ...shellHeaders, ...(etag && { ETag: etag }) }
  const contentType = 'text/html; charset=utf-8'
  if (etag !== '' && status === 200 && ifNoneMatch?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag))
    return { status: 304, bytes: Buffer.alloc(0), contentType, headers }
  return { status, bytes: html, contentType, headers }
}

/** A browser that goes to an unknown path sees the page; programs get JSON as ever. */
export const createNotFoundPage =
  (assets: Assets) =>
  ({ method, headers }: IncomingMessage, via: () => Via): Reply | undefined => {
    const isNavigation = headers['sec-fetch-mode'] === 'navigate' || (headers.accept ?? '').includes('text/html')
    if (!isNavigation || (method !== 'GET' && method !== 'HEAD')) return undefined
    return shellReply(assets, { basePath: via().basePath, status: 404 })
  }

const baseOf = ({ via }: RouteContext): string => via?.().basePath ?? '/'

const declared = {
  method: 'GET',
  withoutProject: true,
  body: { type: 'none' },
} as const

export function createPageRoutes(assets: Assets): Route[] {
  const redirect = (context: RouteContext, path: string): Reply => ({
    status: 302,
    bytes: Buffer.alloc(0),
    contentType: 'text/plain; charset=utf-8',
    headers: { Location: baseOf(context) + path, 'Cache-Control': 'no-cache', 'Referrer-Policy': 'no-referrer' },
  })
  return [
    route({
      ...declared,
      name: 'web.page',
      path: '/',
      aliases: pagePaths,
      summary: 'The web page: one shell under every path of the page',
      response: null,
      responseType: 'text/html',
      handle: async (context) => {
        const module = moduleOf(context.params.path)
        return shellReply(assets, { basePath: baseOf(context), module, ifNoneMatch: context.header('if-none-match') })
      },
    }),
    route({
      ...declared,
      name: 'web.asset',
      path: '/assets/{file}',
      summary: 'A file of the web page, by a name that changes with its content',
      response: null,
      responseType: 'text/javascript',
      async handle({ params, header }) {
        const asset = assets.file(params.file ?? '', header('accept-encoding'))
        if (asset === undefined) throw new Fault(404, { detail: 'Not Found' })
        const { bytes, encoding, contentType } = asset
        return { bytes, contentType, headers: { ...assetHeaders, ...(encoding && { 'Content-Encoding': encoding }) } }
      },
    }),
    route({
      ...declared,
      name: 'web.call_link',
      path: '/{entity}/{project}/r/call/{id}',
      summary: 'Leads from the link of a call that SDKs print to the page of the call',
      response: z.null(),
      handle: async (context) => {
        const { entity = '', project = '', id = '' } = context.params
        return redirect(context, callPathOf(entity, project, id))
      },
    }),
    route({
      ...declared,
      name: 'web.sdk_link',
      path: '/{entity}/{project}/weave',
      aliases: ['/{entity}/{project}/weave/{path*}'],
      summary: 'Leads from other links that SDKs print to pages',
      response: z.null(),
      handle: async (context) => {
        const { entity = '', project = '', path = '' } = context.params
        return redirect(context, pagePathOf(entity, project, path))
      },
    }),
  ]
}
