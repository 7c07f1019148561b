// Putting a list in order by drag: each item takes these properties. Whoever uses it has buttons for the same.
import { type DragEvent, useRef, useState } from 'react'

/** @param move told of the places that an item leaves and takes */
export function useReorder(move: (from: number, to: number) => void) {
  const [dragged, setDragged] = useState<number | null>(null)
  // A quick hand is over another item before what it has begun is drawn.
  const from = useRef<number | null>(null)
  const [over, setOver] = useState<number | null>(null)
  const begin = (place: number | null) => {
    from.current = place
    setDragged(place)
  }
  const end = () => {
    begin(null)
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
      begin(place)
    },
    // Files and texts from elsewhere are nothing to this list.
    onDragOver: (event: DragEvent) => {
      if (from.current === null) return
      event.preventDefault()
      setOver(place)
    },
    onDrop: (event: DragEvent) => {
      const { current: begun } = from
      if (begun === null) return
      event.preventDefault()
      if (begun !== place) move(begun, place)
      end()
    },
    onDragEnd: end,
  })
}
