// Calls declared routes from the page: typed by the generated table.
import type { Shapes } from './routes.gen.ts'
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
