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
    "resource attribute that names a project of the key's entity, such as service.name",
    z.string().regex(/^[\w.-]*$/, { error: 'must be the name of an attribute' }),
  ),
  otlpGrpcPort: portOrOff(4317, 'port of OTLP over gRPC, or off'),
  otlpHttpPort: portOrOff(4318, 'port of OTLP over HTTP alone, or off. The main port takes OTLP too'),
  otelEventsAsIo: truth(true, 'read OTLP message events as inputs and output'),
  otelLogsAsIo: truth(true, 'make log records of generative AI part of the calls of their spans'),
}
