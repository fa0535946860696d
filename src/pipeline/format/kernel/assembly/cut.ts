/**
 * Cuts the objects of an array, or those that stand one behind the other, into lines: each checked, and copied without the white
 * space between its tokens. All memory is JavaScript's: nothing is allocated here.
 */
import { afterSpaceOnLines, squeezedEnd, squeezedObject } from '../../../../base/json/strict/assembly/json'
import { noEscape, noMarks } from '../../../../base/json/strict/assembly/marks'
import { NEXT, STOP_END, STOP_OBJECT, STOP_OTHER, TOP_LEVEL } from '../layout'

const LINE_FEED: u8 = 0x0a
const COMMA: u8 = 0x2c
const BRACE: u8 = 0x7b

/** The result of the last call: the number of lines, and the ends of what it took and wrote. */
export let objects: u32 = 0
export let takenTo: usize = 0
export let writtenTo: usize = 0
/** Where it stopped: behind the white space and the comma. */
export let stoppedAt: usize = 0

/** Takes objects of [from, to), at most `most`, none longer than `longest`. A zero byte stands at `to`. */
export function cut(from: usize, to: usize, out: usize, state: u32, most: u32, longest: usize): u32 {
  noMarks()
  noEscape()
  objects = 0
  takenTo = from
  writtenTo = out
  let expected = state
  while (true) {
    let at = afterSpaceOnLines(takenTo)
    if (expected == NEXT && load<u8>(at) == COMMA) at = afterSpaceOnLines(at + 1)
    else if (expected == NEXT) {
      stoppedAt = at
      return at >= to ? STOP_END : STOP_OTHER
    }
    stoppedAt = at
    if (at >= to) return STOP_END
    if (load<u8>(at) != BRACE || at - takenTo > longest) return STOP_OTHER
    if (objects == most) return STOP_OBJECT
    const end = squeezedObject(at, writtenTo)
    if (end == 0 || end - at > longest) return STOP_OBJECT
    store<u8>(squeezedEnd, LINE_FEED)
    writtenTo = squeezedEnd + 1
    takenTo = end
    objects += 1
    if (expected != TOP_LEVEL) expected = NEXT
  }
}
