/**
 * Edits lines in one pass: each is checked (strict JSON, one object) while the named fields are found in it, then copied with its
 * patches. It does what `document-editor.ts` does, and stops before a line that is broken, unusual, or must be rejected. All memory is
 * JavaScript's.
 */
import { afterSpace } from '../../../../base/json/strict/assembly/json'
import { noEscape, noMarks } from '../../../../base/json/strict/assembly/marks'
import { MOST_EDIT_LINES, STOP_EDIT_LINE, STOP_EDITED, STOP_OUT_FULL } from '../layout'
import { endOfDocument, numberIs } from './document'
import { appliedTo, apply, bytesOfTexts, copyTo, keepPatchesAt, noPatches } from './patches'

const LINE_FEED: u8 = 0x0a
const ACTION_MARK: u8 = 0x1e
const LETTER_D: u8 = 0x64

/** The result of the last call: the ends of what it took and wrote, and the number of lines. */
export let consumedTo: usize = 0
export let editedTo: usize = 0
export let lines: u32 = 0

/** The input has changed. `patches`: memory for them. */
export function loaded(patches: usize): void {
  noMarks()
  noEscape()
  keepPatchesAt(patches)
}

/** Edits the lines of [from, to). `top`: the rules. `ends`: takes where each line ends, counted from `from`. `number`: that of the first one. */
export function edit(
  from: usize,
  to: usize,
  out: usize,
  outEnd: usize,
  top: usize,
  sets: u32,
  ends: usize,
  number: f64,
  isAction: bool,
): u32 {
  let stop: u32 = STOP_EDITED
  let copied = from
  let line = u64(number)
  consumedTo = from
  editedTo = out
  lines = 0
  while (consumedTo < to) {
    noPatches()
    const end = editLine(consumedTo, top, sets, line, isAction)
    if (end == 0) {
      stop = STOP_EDIT_LINE
      break
    }
    if (lines == MOST_EDIT_LINES || editedTo + (end - copied) + bytesOfTexts() > outEnd) {
      stop = STOP_OUT_FULL
      break
    }
    editedTo = apply(copied, editedTo)
    copied = appliedTo
    consumedTo = end
    line += 1
    store<u32>(ends + (<usize>lines << 2), u32(end - from))
    lines += 1
  }
  editedTo = copyTo(editedTo, copied, consumedTo)
  return stop
}

/** Finds the patches of a line. Returns the offset behind it, or 0 where JavaScript has to look at it. */
function editLine(from: usize, top: usize, sets: u32, line: u64, isAction: bool): usize {
  let at = from
  if (isAction) {
    if (load<u8>(at) != ACTION_MARK || load<u8>(at + 1) == LETTER_D) return 0
    do at += 1
    while (load<u8>(at) != ACTION_MARK && load<u8>(at) != LINE_FEED)
    if (load<u8>(at) == LINE_FEED) return 0
    at += 1
  }
  at = afterSpace(at)
  if (load<u8>(at) == LINE_FEED && !isAction) return at + 1
  numberIs(line)
  at = endOfDocument(at, top, sets)
  if (at == 0) return 0
  at = afterSpace(at)
  return load<u8>(at) == LINE_FEED ? at + 1 : 0
}
