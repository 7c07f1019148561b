// Putting a list in order by drag: each item takes these properties. Whoever uses it has buttons for the same.
import { type DragEvent, useState } from 'react'

/** @param move told of the places that an item leaves and takes */
export function useReorder(move: (from: number, to: number) => void) {
  const [dragged, setDragged] = useState<number | null>(null)
  const [over, setOver] = useState<number | null>(null)
  const end = () => {
    setDragged(null)
    setOver(null)
  }
  return (place: number) => ({
    draggable: true,
    'data-drop':
      dragged === null || over !== place || dragged === place ? undefined : place < dragged ? 'before' : 'behind',
    onDragStart: ({ dataTransfer }: DragEvent) => {
      dataTransfer.effectAllowed = 'move'
      // Without data some browsers do not drag.
      dataTransfer.setData('text/plain', '')
      setDragged(place)
    },
    // Files and texts from elsewhere are nothing to this list.
    onDragOver: (event: DragEvent) => {
      if (dragged === null) return
      event.preventDefault()
      setOver(place)
    },
    onDrop: (event: DragEvent) => {
      if (dragged === null) return
      event.preventDefault()
      if (dragged !== place) move(dragged, place)
      end()
    },
    onDragEnd: end,
  })
}
