// Stored objects that a request names: prompts, providers of a project and their models.
import { asFault } from '../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../core/http/invoke.ts'
import { parseLossless } from '../core/json/lossless.ts'

export type StoredObject = {
  objectId: string
  digest: string
  baseClass: string | null
  leafClass: string | null
  /** Numbers as they are spelled. */
  val: unknown
}

export type ObjectName = { projectId: string; objectId: string; version: string }

type Wire = {
  obj: {
    object_id: string
    digest: string
    base_object_class: string | null
    leaf_object_class: string | null
    val: unknown
  }
}

/** The object; undefined when there is none. @throws Fault 403 when the caller may not read the project */
export async function readStoredObject(
  invoke: Pick<Invoke, 'answer'>,
  { projectId, objectId, version }: ObjectName,
  as: InvokeCaller,
): Promise<StoredObject | undefined> {
  const asked = { project_id: projectId, object_id: objectId, digest: version }
  try {
    const { bytes } = await invoke.answer('objects.read', asked, as)
    const { obj } = parseLossless(bytes.toString()) as Wire
    return {
      objectId: obj.object_id,
      digest: obj.digest,
      val: obj.val,
      baseClass: obj.base_object_class,
      leafClass: obj.leaf_object_class,
    }
  } catch (error) {
    // Like nothing: whether a project that the caller may not read holds it is not told.
    const status = asFault(error)?.status
    if (status === 404 || status === 403) return undefined
    throw error
  }
}

export type ListedObject = { object_id: string; digest: string; val: unknown }

/** Versions of objects of one class. */
export async function listObjects(
  invoke: Pick<Invoke, 'json'>,
  { projectId, baseClass, latestOnly }: { projectId: string; baseClass: string; latestOnly: boolean },
  as: InvokeCaller,
): Promise<ListedObject[]> {
  const filter = { base_object_classes: [baseClass], latest_only: latestOnly }
  const asked = { project_id: projectId, filter, metadata_only: !latestOnly }
  const { objs } = await invoke.json<{ objs: ListedObject[] }>('objects.query', asked, as)
  return objs
}
