import { INPUT_SLACK_BYTES, INPUT_START, SLACK_BYTES } from '../../../base/json/strict/layout.js'
import { compile, copyInto, type Global, newMemory, webAssembly } from '../../../base/memory.js'
import type { Rules } from '../rules.js'
import type { ValueText } from '../values.js'
import { kernelCode } from './code.js'
import { MOST_EDIT_LINES, MOST_PATCHES, PATCH_BYTES, STOP_EDITED, STOP_OUT_FULL } from './layout.js'
import { layDown } from './rule-tables.js'

/** The functions and the globals of assembly/edit.ts. Sizes and addresses are in bytes. */
interface Exports {
  loaded(patches: number): void
  edit(
    from: number,
    to: number,
    out: number,
    outEnd: number,
    top: number,
    sets: number,
    ends: number,
    number: number,
    isAction: number,
  ): number
  readonly consumedTo: Global
  readonly editedTo: Global
  readonly lines: Global
}

const INPUT_BYTES = 512 << 10
const RULES_BYTES = 256 << 10
const OUTPUT_BYTES = 1 << 20
const RULES = INPUT_START + INPUT_BYTES + INPUT_SLACK_BYTES
const PATCHES = RULES + RULES_BYTES + SLACK_BYTES
const ENDS = PATCHES + MOST_PATCHES * PATCH_BYTES
const OUTPUT = ENDS + MOST_EDIT_LINES * 4
const MEMORY_BYTES = OUTPUT + OUTPUT_BYTES + SLACK_BYTES
const PAGE_BYTES = 64 << 10

/** The result of one call. */
interface KernelEdited {
  /** Offset behind the lines that it took. */
  readonly consumedTo: number
  /** Where each of these ends, counted from the first one. */
  readonly ends: Uint32Array
  /** How far the output is filled. */
  readonly filled: number
  /** `line`: the next one is no matter for the kernel, whatever the reason. `full`: the output has no room for it. */
  readonly stop: 'done' | 'full' | 'line'
}

let compiled: ReturnType<typeof compile>

/** Returns undefined if the machine has no SIMD, or no memory for it. */
export function openEditKernel(): EditKernel | undefined {
  compiled ??= compile(kernelCode)
  const memory = newMemory(Math.ceil(MEMORY_BYTES / PAGE_BYTES))
  if (memory === undefined || webAssembly === undefined || compiled === undefined) return undefined
  const { exports } = new webAssembly.Instance(compiled, { env: { memory } })
  return new EditKernel(Buffer.from(memory.buffer), exports as Exports)
}

/** Edits what is usual, and stops before anything else. */
class EditKernel {
  /** Where it writes, and where JavaScript may write what it has left. */
  readonly output: Buffer
  readonly #bytes: Buffer
  readonly #exports: Exports
  #top: number | undefined
  #sets = 0

  constructor(bytes: Buffer, exports: Exports) {
    this.#bytes = bytes
    this.#exports = exports
    this.output = bytes.subarray(OUTPUT, OUTPUT + OUTPUT_BYTES)
  }

  /** Takes the rules, and the values of one input. If they are too many, it edits no line. */
  prepare(rules: Rules, values: readonly ValueText[]): void {
    this.#sets = values.length
    this.#top = layDown(this.#bytes, RULES, RULES + RULES_BYTES, rules, values)
  }

  /** Takes lines of valid UTF-8. Returns false if they do not fit. */
  load(lines: Buffer): boolean {
    if (this.#top === undefined || lines.length > INPUT_BYTES) return false
    copyInto(this.#bytes, INPUT_START, lines)
    this.#exports.loaded(PATCHES)
    return true
  }

  /** Edits the loaded lines of [from, to), which have their line ends. `filled`: the part of the output in use. `line`: number of the first one. */
  edit(from: number, to: number, filled: number, line: number, isAction: boolean): KernelEdited {
    const { edit, consumedTo, editedTo, lines } = this.#exports
    const stop = edit(
      INPUT_START + from,
      INPUT_START + to,
      OUTPUT + filled,
      OUTPUT + OUTPUT_BYTES,
      this.#top ?? 0,
      this.#sets,
      ENDS,
      line,
      Number(isAction),
    )
    return {
      consumedTo: consumedTo.value - INPUT_START,
      ends: new Uint32Array(this.#bytes.buffer, ENDS, lines.value),
      filled: editedTo.value - OUTPUT,
      stop: stop === STOP_EDITED ? 'done' : stop === STOP_OUT_FULL ? 'full' : 'line',
    }
  }
}

export type { EditKernel }
