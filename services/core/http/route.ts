// The declaration of an endpoint: everything that the server, the OpenAPI document and `npm run paths` need to know.
import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { Access, NeededRight } from '../directory/roles.ts'
import type { ProjectId } from '../ids.ts'
import type { Fault } from './errors.ts'
import { rightOf } from './rights.ts'
import type { Via } from './via.ts'

/** The authenticated caller. */
export type Caller = {
  userId: string
  /** Default entity, told to SDKs by /graphql. */
  entity: string
  /** The project of a key that opens no other. */
  onlyProject?: ProjectId
  /** Actions by scope; absent: a caller without a key. */
  access?: Access
  /** Id of the key, which its sessions name. */
  keyId?: string
  /** End of the key; absent: it has none. */
  endsMs?: number
  /** True when the key has what is needed on the project. */
  may(needed: NeededRight, projectId: ProjectId): boolean
}

/** Request body as it reached the server: inflated, within the size limit. */
type Body = {
  bytes: Buffer
  /** Content type without parameters, lower case; '' when the header is missing. */
  contentType: string
}

export type RouteContext<Input = unknown> = {
  requestId: string
  caller: Caller
  /** Header by lower-case name, first value. */
  header(name: string): string | undefined
  /** The way of the request to the server: only where a client asked the server, and not for `invoke`. */
  via?: () => Via
  /** Address of the peer, or of the first untrusted hop when the peer is a trusted proxy. */
  clientIp(): string
  params: Record<string, string>
  query: URLSearchParams
  /** Parsed and schema-checked body of a `json` route. `unknown` when the route checks by itself. */
  input: Input
  /** The bytes behind `input`; empty for routes without a body. */
  body: Body
  /** Most nested containers that the body may have; bodies that one feature sends to another have some more. */
  maxJsonDepth: number
  /**
   * Work may take as long as it needs: this is a thread of its own. Where false, a handler that finds out that its work
   * is long throws `TooLongHere`, before it has written anything.
   */
  mayTakeLong: boolean
  /** Copied from the route. */
  countsAll?: true
  /** Unread request stream of a `stream` route (multipart uploads). */
  stream: Readable
  /** Aborted when the client has gone or the request's time is over. */
  signal: AbortSignal
  /** Parses `<entity>/<project>` (400) and checks that the caller holds the route's right on it (403). */
  project(projectId: string): ProjectId
  /** The same, or null when the caller lacks the right: for what is answered as if it did not exist. */
  projectOrNull(projectId: string): ProjectId | null
  /** Those that were opened. */
  projects(): readonly ProjectId[]
}

/** The answer of a handler. */
export type Reply =
  | { status?: number; json: unknown; headers?: Record<string, string> }
  /** JSON text that is already serialized. */
  | { status?: number; jsonText: string | Buffer; headers?: Record<string, string> }
  /** JSON Lines: each chunk holds whole lines, each ended by \n. Back-pressure and abort are the writer's concern. */
  | {
      lines: AsyncIterable<string | Buffer>
      contentType: 'application/jsonl' | 'application/x-ndjson'
      headers?: Record<string, string>
    }
  | { status?: number; bytes: Buffer | AsyncIterable<Buffer>; contentType: string; headers?: Record<string, string> }

type RouteBody<Schema extends z.ZodType = z.ZodType> =
  | { type: 'none' }
  /** JSON with or without Content-Type. check 'schema' = parsed by `schema` before the handler; 'handler' = the handler
   *  receives the JSON value as it is and checks it itself; 'bytes' = the handler reads the bytes itself (hot routes),
   *  `input` is undefined and they may not be JSON. For the last two the schema only documents. `times`: how often the
   *  usual bound such a body may be long. `maxBytes`: a bound below the usual one. `optional`: no body at all counts as `{}`. */
  | {
      type: 'json'
      schema: Schema
      check: 'schema' | 'handler' | 'bytes'
      times?: number
      maxBytes?: number
      optional?: true
    }
  /** Any bytes, inflated and bounded; the handler decodes them (OTLP). */
  | { type: 'raw'; contentTypes: string[] }
  /** The handler reads the stream (multipart). */
  | { type: 'stream'; contentType: string }

export type Route<Schema extends z.ZodType = z.ZodType> = {
  /** Noun and verb, e.g. `calls.start`; the key of the registry. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Placeholders in braces: `/v2/{entity}/{project}/calls/complete`. A last one `{path*}` takes the rest with slashes. */
  path: string
  /** Other paths with identical behaviour. */
  aliases?: string[]
  /** The right, from the table in `rights.ts`. */
  right: NeededRight
  summary: string
  /** Documents the query string; handlers read `context.query` themselves. */
  query?: z.ZodObject
  body: RouteBody<Schema>
  /** Documents the 200 answer; null = JSON Lines or bytes described by `responseType`. */
  response: z.ZodType | null
  responseType?: string
  /** Shape of one line of JSON Lines. */
  line?: z.ZodType
  /** The topics that the route appends to and the tables that it reads, for `npm run paths`. */
  topics?: string[]
  tables?: string[]
  /** Id of the key that asks, where the address alone tells it: no credentials are looked at. @throws Fault */
  keyOf?(params: Record<string, string>): string
  /** Works without a project, so that its handler may read what belongs to none. Any other opens a project first. */
  withoutProject?: true
  /** Opens projects that were removed, too: it tells what became of them. */
  opensRemoved?: true
  /** The handler bounds its time by itself: it waits for servers that are slower than any request of ours may be. */
  limitsItself?: boolean
  /** Its callers are exporters: `Authorization` may be the key itself, and a few more headers may hold it. */
  takesExporterKeys?: true
  /** Gives every fault of the route the body that its clients read, also of what comes before the handler. */
  faultAs?(fault: Fault): Fault
  /** Its answer counts or sums: where it may lack accepted writes it is 503, and no wrong number. */
  countsAll?: true
  /** Its work is long however short its body is: it runs in a thread. */
  isLong?: true
  /** Heap that its work takes for a byte of its body, when that is less than values take. */
  heapPerByte?: number
  /** Work of the server's own: it is run by its name, and no path leads to it. */
  isInner?: true
  /** OTLP routes answer undecodable bodies in their own shape. */
  handle(context: RouteContext<z.output<Schema>>): Promise<Reply>
}

type Declared<Of extends { right: NeededRight }> = Omit<Of, 'right'> & {
  /** Only of a route that the table of rights does not know: those of tests. */
  right?: NeededRight
}

function rightOfDeclared({ name, right }: { name: string; right?: NeededRight }): NeededRight {
  const listed = rightOf(name)
  const found = listed ?? right
  if (found === undefined) throw new Error(`core/http/rights.ts does not say which right ${name} needs`)
  if (listed !== undefined && right !== undefined) throw new Error(`the right of ${name} stands in core/http/rights.ts`)
  return found
}

/** Declares a route; keeps the body's type for the handler. @throws Error when the table of rights does not list it */
export const route = <Schema extends z.ZodType>(declared: Declared<Route<Schema>>): Route =>
  ({ ...declared, right: rightOfDeclared(declared) }) as unknown as Route

type Inner = Declared<Pick<Route, 'name' | 'right' | 'summary' | 'isLong' | 'heapPerByte' | 'handle'>>

/** Declares work of the server's own, which reads its body from the bytes: long ones find a thread like those of requests. */
export const innerRoute = (declared: Inner): Route => ({
  method: 'POST',
  path: '',
  response: null,
  isInner: true,
  ...declared,
  right: rightOfDeclared(declared),
  body: { type: 'json', schema: z.unknown(), check: 'bytes' },
})
