// The button of a list's saved views.
import { type ComponentType, Suspense } from 'react'
import type { ListSearch, ViewPage } from '../parts/default-view.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'

export type ViewsProps = {
  projectId: string
  page: ViewPage
  /** Search of the address, with `saved` for the view that it was opened from. */
  search: ListSearch
  onOpen(search: ListSearch): void
  onClose(): void
}

/** @param Views what it opens, of this chunk or of another */
export const ViewsMenu = ({ Views, ...props }: Omit<ViewsProps, 'onClose'> & { Views: ComponentType<ViewsProps> }) => (
  <Menu
    label="Saved views"
    className="line"
    button={
      <>
        Views <Icon name="down" />
      </>
    }
  >
    {(close) => (
      <Suspense fallback={null}>
        <Views {...props} onClose={close} />
      </Suspense>
    )}
  </Menu>
)
