/** The project as paths name it. */
export function partsOf(projectId: string): { entity: string; project: string } {
  const [entity = '', project = ''] = projectId.split('/')
  return { entity, project }
}
