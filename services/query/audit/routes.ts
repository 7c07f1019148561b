// The events in a scope, for its administrators: POST /audit/query.
import { auditLine, auditRequest } from '../../../schemas/audit.ts'
import { maxItemBytes } from '../../core/directory/items.ts'
import { allowsOn, isScope } from '../../core/directory/roles.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import { type AuditStore, auditLines } from './events.ts'

export const auditRoute = ({ store, freshness }: { store: AuditStore; freshness: Freshness }): Route =>
  route({
    name: 'audit.query',
    method: 'POST',
    path: '/audit/query',
    summary: 'Audit events of a scope, newest first, as JSON Lines',
    withoutProject: true,
    body: { type: 'json', schema: auditRequest, check: 'schema', maxBytes: maxItemBytes },
    response: null,
    responseType: 'application/jsonl',
    line: auditLine,
    tables: ['audit_events'],
    async handle(context) {
      const { input, caller, signal } = context
      const { access = {} } = caller
      if (!isScope(input.scope)) throw fault(400, 'scope must be *, an entity or a project')
      if (!allowsOn(access, 'admin', input.scope)) throw fault(403, `Key has no right to admin on ${input.scope}`)
      const headers = await freshness.wait(context, ['audit'])
      const lines = await auditLines(store, input, { signal })
      const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      return { bytes, contentType: 'application/jsonl', headers }
    },
  })
