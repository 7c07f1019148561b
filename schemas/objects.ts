// Wire contract of the object routes.
import { z } from 'zod'
import { int } from './coerce.ts'
import { list } from './collections.ts'
import { sortBy } from './query.ts'

export const objCreateRequest = z.object({
  obj: z.object({
    project_id: z.string(),
    object_id: z.string(),
    /** Any JSON; read from the body's text, because numbers must survive as they were sent. */
    val: z.unknown(),
    builtin_object_class: z.string().nullish(),
    /** Older name of builtin_object_class. */
    set_base_object_class: z.string().nullish(),
    expected_digest: z.string().nullish(),
  }),
})

export const objCreateResponse = z.object({ digest: z.string(), object_id: z.string() })

export const objReadRequest = z.object({
  project_id: z.string(),
  object_id: z.string(),
  /** A digest, `latest` or `v<number>`. */
  digest: z.string(),
  metadata_only: z.boolean().nullish(),
  include_tags_and_aliases: z.boolean().nullish(),
})

/** A version of an object. The user's field carries the wire prefix: `<prefix>_user_id`. */
const objectVersion = z.looseObject({
  project_id: z.string(),
  object_id: z.string(),
  created_at: z.string(),
  deleted_at: z.string().nullable(),
  digest: z.string(),
  version_index: z.int(),
  is_latest: z.union([z.literal(0), z.literal(1)]),
  kind: z.enum(['op', 'object']),
  base_object_class: z.string().nullable(),
  leaf_object_class: z.string().nullable(),
  val: z.unknown(),
  size_bytes: z.int().nullable(),
  tags: z.array(z.string()).nullable(),
  aliases: z.array(z.string()).nullable(),
})

export const objReadResponse = z.object({ obj: objectVersion })

const strings = list(z.string()).nullish()

export const objsQueryRequest = z.object({
  project_id: z.string(),
  filter: z
    .object({
      base_object_classes: strings,
      exclude_base_object_classes: strings,
      leaf_object_classes: strings,
      object_ids: strings,
      is_op: z.boolean().nullish(),
      latest_only: z.boolean().nullish(),
      tags: strings,
      aliases: strings,
    })
    .nullish(),
  limit: int().nullish(),
  offset: int().nullish(),
  sort_by: sortBy.nullish(),
  metadata_only: z.boolean().nullish(),
  include_storage_size: z.boolean().nullish(),
  include_tags_and_aliases: z.boolean().nullish(),
})

export const objsQueryResponse = z.object({ objs: z.array(objectVersion) })

export const objDeleteRequest = z.object({ project_id: z.string(), object_id: z.string(), digests: strings })

export const objDeleteResponse = z.object({
  num_deleted: z.int(),
  deleted_versions: z.array(
    z.object({
      digest: z.string(),
      base_object_class: z.string().nullable(),
      leaf_object_class: z.string().nullable(),
    }),
  ),
})
