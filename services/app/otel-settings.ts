// The settings of OTLP: its ports, and how spans and log records become calls.
import { z } from 'zod'
import { list, portOrOff, setting, truth } from './setting-kinds.ts'

export const otelSettings = {
  otelVendorNamespaces: list(
    'platform,wandb',
    'namespaces of OTLP attributes and of <vendor>-api-key headers',
    (entry) => /^[a-z0-9_-]+$/.test(entry),
    'lower-case words',
  ),
  otelProjectAttribute: setting(
    '',
    'resource attribute with the project name in the entity of the key, such as service.name; empty = none',
    z.string().regex(/^[\w.-]*$/, { error: 'must be the name of an attribute' }),
  ),
  otlpGrpcPort: portOrOff(4317, 'port of OTLP over gRPC, or off'),
  otlpHttpPort: portOrOff(4318, 'port of OTLP over HTTP, or off; the main port accepts it too'),
  otelEventsAsIo: truth(true, 'read OTLP message events as inputs and output'),
  otelLogsAsIo: truth(true, 'merge GenAI log records into the calls of their spans'),
}
