// Calls declared routes from the page: typed by the generated table.

import type { Shapes } from '../routes.gen.ts'
import { eachLine } from './lines.ts'
import { type RouteName, type Sending, send } from './send.ts'

export const baseUrl = new URL('.', document.baseURI).href

/** The JSON that the route answers. @throws ApiFault */
export async function json<Name extends RouteName>(
  name: Name,
  body: Shapes[Name]['in'],
  options: Sending = {},
): Promise<Shapes[Name]['out']> {
  const response = await send(baseUrl, name, body, options)
  return (await response.json()) as Shapes[Name]['out']
}

/** The lines that the route answers, all of them at once. @throws ApiFault */
export async function lines<Name extends RouteName>(
  name: Name,
  body: Shapes[Name]['in'],
  options: Sending = {},
): Promise<Shapes[Name]['line'][]> {
  const all: unknown[] = []
  await eachLine(await send(baseUrl, name, body, options), (line) => all.push(line))
  return all as Shapes[Name]['line'][]
}
